import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { setStorageOwner } from '@/lib/storage'

const refusal = { error: { code: 'limit_reached', message: 'Too many.', hints: [], data: { seconds: 7 } } }
const json = { 'content-type': 'application/json' }
const answer = (status: number, body: unknown) => new Response(JSON.stringify(body), { status, headers: json })

interface Post {
  id: string
  text: string
}

/** What the server was sent, and how it answers: by default it takes everything. */
const posts: Post[] = []
let serve: (post: Post) => Promise<Response>
const items = new Map<string, string>()
/** As in a browser, its names are its own properties. */
const storage = new Proxy(
  {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
    removeItem: (key: string) => void items.delete(key),
  },
  {
    ownKeys: () => [...items.keys()],
    getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
  },
)

/** A page that has just been loaded by this person. */
async function pageOf(person: string) {
  vi.resetModules()
  const stored = await import('@/lib/storage')
  stored.setStorageOwner(person)
  const outbox = await import('./outbox')
  outbox.startOutbox()
  return outbox
}

/** Each is sent a moment after the one before. */
function sendText(id: string) {
  vi.setSystemTime(Date.now() + 1)
  return { id, text: id, wake: 'auto' as const }
}

beforeEach(() => {
  vi.useFakeTimers()
  posts.length = 0
  items.clear()
  serve = post => Promise.resolve(answer(201, { kind: 'message', id: post.id, version: 1 }))
  vi.stubGlobal('document', { cookie: 'csrftoken=x', addEventListener: () => undefined })
  vi.stubGlobal('window', { addEventListener: () => undefined })
  vi.stubGlobal('localStorage', storage)
  vi.stubGlobal('fetch', async (request: Request) => {
    const post = (await request.json()) as Post
    posts.push(post)
    return serve(post)
  })
})

afterEach(() => {
  setStorageOwner(null)
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

const sent = () => posts.map(post => post.id)

describe('a message that was rate-limited', () => {
  it('is kept, and sent again under the same id after the pause that the server named', async () => {
    const { send } = await pageOf('alice')
    serve = () => Promise.resolve(answer(429, refusal))
    await send('chat', sendText('one'))
    await vi.advanceTimersByTimeAsync(6_900)
    expect(sent()).toEqual(['one'])
    await vi.advanceTimersByTimeAsync(200)
    expect(sent()).toEqual(['one', 'one'])
  })

  it('goes before the messages after it', async () => {
    const { send } = await pageOf('alice')
    serve = () => Promise.resolve(answer(429, refusal))
    await Promise.all([send('chat', sendText('one')), send('chat', sendText('two'))])
    expect(sent()).toEqual(['one'])
    serve = post => Promise.resolve(answer(201, { kind: 'message', id: post.id, version: 1 }))
    await vi.advanceTimersByTimeAsync(7_100)
    expect(sent()).toEqual(['one', 'one', 'two'])
  })
})

describe('messages of one chat', () => {
  it('arrive in the order in which they were written, however slow the first is', async () => {
    const { send } = await pageOf('alice')
    const arrived: string[] = []
    let release: () => void = () => undefined
    serve = post =>
      new Promise(resolve => {
        const done = () => {
          arrived.push(post.id)
          resolve(answer(201, { kind: 'message', id: post.id, version: 1 }))
        }
        if (post.id === 'slow') release = done
        else done()
      })
    const both = [send('chat', sendText('slow')), send('chat', sendText('two'))]
    await send('another chat', sendText('elsewhere'))
    expect(arrived).toEqual(['elsewhere'])
    release()
    await Promise.all(both)
    expect(arrived).toEqual(['elsewhere', 'slow', 'two'])
  })

  it('wait for the one that found no server, and follow it', async () => {
    const { send } = await pageOf('alice')
    serve = () => Promise.reject(new TypeError('Failed to fetch'))
    await Promise.all([send('chat', sendText('one')), send('chat', sendText('two')), send('chat', sendText('three'))])
    expect(sent()).toEqual(['one'])
    serve = post => Promise.resolve(answer(201, { kind: 'message', id: post.id, version: 1 }))
    await vi.advanceTimersByTimeAsync(35_000)
    expect(sent()).toEqual(['one', 'one', 'two', 'three'])
  })

  it('do not wait for one that was refused for good, nor for one that was removed', async () => {
    const { send, forget } = await pageOf('alice')
    serve = () => Promise.resolve(answer(403, { error: { code: 'forbidden', message: 'No.' } }))
    await send('chat', sendText('refused'))
    serve = () => Promise.reject(new TypeError('Failed to fetch'))
    await Promise.all([send('chat', sendText('one')), send('chat', sendText('two'))])
    serve = post => Promise.resolve(answer(201, { kind: 'message', id: post.id, version: 1 }))
    forget('one')
    await vi.advanceTimersByTimeAsync(0)
    expect(sent()).toEqual(['refused', 'one', 'two'])
  })

  it('give up an answer that does not come, and are sent again', async () => {
    const { send } = await pageOf('alice')
    vi.stubGlobal('fetch', async (request: Request, { signal }: { signal: AbortSignal }) => {
      posts.push((await request.json()) as Post)
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')))
      })
    })
    void send('chat', sendText('one'))
    await vi.advanceTimersByTimeAsync(14_900)
    expect(items.get('atelier.unsent.one@alice')).toContain('"failed":null')
    await vi.advanceTimersByTimeAsync(200)
    expect(items.get('atelier.unsent.one@alice')).toContain('"failed":"unreachable"')
  })
})

describe('what was not sent before a reload', () => {
  it('goes out again in its order, also from where one list of everything was kept', async () => {
    const entry = (id: string, at: string) => ({
      ...sendText(id),
      chat_id: 'chat',
      created_at: at,
      failed: 'unreachable',
    })
    items.set('atelier.unsent@alice', JSON.stringify([entry('b', '2026-11-20T10:00:00Z')]))
    items.set('atelier.unsent.a@alice', JSON.stringify(entry('a', '2026-11-20T11:00:00Z')))
    await pageOf('alice')
    await vi.advanceTimersByTimeAsync(100)
    expect(sent()).toEqual(['b', 'a'])
    expect([...items.keys()]).toEqual([])
  })

  it('stays where it is when it was refused for good', async () => {
    const first = await pageOf('alice')
    serve = () => Promise.resolve(answer(403, { error: { code: 'forbidden', message: 'No.' } }))
    await first.send('chat', sendText('one'))
    await pageOf('alice')
    await vi.advanceTimersByTimeAsync(60_000)
    expect(sent()).toEqual(['one'])
    expect(items.get('atelier.unsent.one@alice')).toContain('"failed":"forbidden"')
  })
})

describe('FAIR6: what one person could not send', () => {
  it('is neither sent nor shown as the next person, and waits for its writer', async () => {
    const alice = await pageOf('alice')
    serve = () => Promise.reject(new TypeError('Failed to fetch'))
    await alice.send('chat', sendText('private'))
    posts.length = 0
    serve = post => Promise.resolve(answer(201, { kind: 'message', id: post.id, version: 1 }))

    const bob = await pageOf('bob')
    await bob.send('chat', sendText('mine'))
    expect(sent()).toEqual(['mine'])

    const again = await pageOf('alice')
    await again.sendAgain('private')
    await vi.waitFor(() => expect(sent()).toEqual(['mine', 'private']))
  })
})
