import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { setStorageOwner } from '@/lib/storage'

const refusal = { error: { code: 'limit_reached', message: 'Too many.', hints: [], data: { seconds: 7 } } }
const json = { 'content-type': 'application/json' }
const respond = (status: number, body: unknown) => new Response(JSON.stringify(body), { status, headers: json })

interface Post {
  id: string
  text: string
}

/** The messages posted to the server, and its response: by default it accepts them. */
const posts: Post[] = []
let handlePost: (post: Post) => Promise<Response>
const items = new Map<string, string>()
/** As in a browser, the keys are own properties of the storage. */
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

/** Loads the outbox module as a fresh page of this person would. */
async function loadPage(person: string) {
  vi.resetModules()
  const stored = await import('@/lib/storage')
  stored.setStorageOwner(person)
  const outbox = await import('./outbox')
  outbox.startOutbox()
  return outbox
}

/** Builds a message, a millisecond later than the one before. */
function buildText(id: string) {
  vi.setSystemTime(Date.now() + 1)
  return { id, text: id, wake: 'auto' as const }
}

beforeEach(() => {
  vi.useFakeTimers()
  posts.length = 0
  items.clear()
  handlePost = post => Promise.resolve(respond(201, { kind: 'message', id: post.id, version: 1 }))
  vi.stubGlobal('document', { cookie: 'csrftoken=x', addEventListener: () => undefined })
  vi.stubGlobal('window', { addEventListener: () => undefined })
  vi.stubGlobal('localStorage', storage)
  vi.stubGlobal('fetch', async (request: Request) => {
    const post = (await request.json()) as Post
    posts.push(post)
    return handlePost(post)
  })
})

afterEach(() => {
  setStorageOwner(null)
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

const listPosted = () => posts.map(post => post.id)

describe('a message with files', () => {
  const paths: string[] = []
  const files = [
    { id: 'f1', name: 'a.pdf' },
    { id: 'f2', name: 'b.png' },
  ]

  beforeEach(() => {
    paths.length = 0
    vi.stubGlobal('fetch', async (request: Request) => {
      const body = (await request.json()) as { id?: string; wake: string }
      paths.push(`${new URL(request.url).pathname.replace('/api/v1/', '')} ${body.wake}`)
      return respond(201, { kind: 'message', id: body.id ?? 'file', version: 1 })
    })
  })

  it('posts its files before its text, and only the text wakes agents', async () => {
    const { send } = await loadPage('alice')
    await send('chat', buildText('one'), files)
    expect(paths).toEqual(['files/f1/post nobody', 'files/f2/post nobody', 'chats/chat/messages auto'])
  })

  it('wakes agents with its last file if it has no text', async () => {
    const { send } = await loadPage('alice')
    await send('chat', { ...buildText('one'), text: '' }, files)
    expect(paths).toEqual(['files/f1/post nobody', 'files/f2/post auto'])
    expect(items.size).toBe(0)
  })
})

describe('a rate-limited message', () => {
  it('is sent again with the same id after the pause that the server named', async () => {
    const { send } = await loadPage('alice')
    handlePost = () => Promise.resolve(respond(429, refusal))
    await send('chat', buildText('one'))
    await vi.advanceTimersByTimeAsync(6_900)
    expect(listPosted()).toEqual(['one'])
    await vi.advanceTimersByTimeAsync(200)
    expect(listPosted()).toEqual(['one', 'one'])
  })

  it('is sent before the messages after it', async () => {
    const { send } = await loadPage('alice')
    handlePost = () => Promise.resolve(respond(429, refusal))
    await Promise.all([send('chat', buildText('one')), send('chat', buildText('two'))])
    expect(listPosted()).toEqual(['one'])
    handlePost = post => Promise.resolve(respond(201, { kind: 'message', id: post.id, version: 1 }))
    await vi.advanceTimersByTimeAsync(7_100)
    expect(listPosted()).toEqual(['one', 'one', 'two'])
  })
})

describe('messages of one chat', () => {
  it('arrive in the order of writing, however slow the first is', async () => {
    const { send } = await loadPage('alice')
    const arrived: string[] = []
    let release: () => void = () => undefined
    handlePost = post =>
      new Promise(resolve => {
        const done = () => {
          arrived.push(post.id)
          resolve(respond(201, { kind: 'message', id: post.id, version: 1 }))
        }
        if (post.id === 'slow') release = done
        else done()
      })
    const both = [send('chat', buildText('slow')), send('chat', buildText('two'))]
    await send('another chat', buildText('elsewhere'))
    expect(arrived).toEqual(['elsewhere'])
    release()
    await Promise.all(both)
    expect(arrived).toEqual(['elsewhere', 'slow', 'two'])
  })

  it('wait for one that found no server', async () => {
    const { send } = await loadPage('alice')
    handlePost = () => Promise.reject(new TypeError('Failed to fetch'))
    await Promise.all([
      send('chat', buildText('one')),
      send('chat', buildText('two')),
      send('chat', buildText('three')),
    ])
    expect(listPosted()).toEqual(['one'])
    handlePost = post => Promise.resolve(respond(201, { kind: 'message', id: post.id, version: 1 }))
    await vi.advanceTimersByTimeAsync(35_000)
    expect(listPosted()).toEqual(['one', 'one', 'two', 'three'])
  })

  it('do not wait for one that was rejected or removed', async () => {
    const { send, discard } = await loadPage('alice')
    handlePost = () => Promise.resolve(respond(403, { error: { code: 'forbidden', message: 'No.' } }))
    await send('chat', buildText('refused'))
    handlePost = () => Promise.reject(new TypeError('Failed to fetch'))
    await Promise.all([send('chat', buildText('one')), send('chat', buildText('two'))])
    handlePost = post => Promise.resolve(respond(201, { kind: 'message', id: post.id, version: 1 }))
    discard('one')
    await vi.advanceTimersByTimeAsync(0)
    expect(listPosted()).toEqual(['refused', 'one', 'two'])
  })

  it('time out without a response and are sent again', async () => {
    const { send } = await loadPage('alice')
    vi.stubGlobal('fetch', async (request: Request, { signal }: { signal: AbortSignal }) => {
      posts.push((await request.json()) as Post)
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')))
      })
    })
    void send('chat', buildText('one'))
    await vi.advanceTimersByTimeAsync(14_900)
    expect(items.get('atelier.unsent.one@alice')).toContain('"failed":null')
    await vi.advanceTimersByTimeAsync(200)
    expect(items.get('atelier.unsent.one@alice')).toContain('"failed":"unreachable"')
  })
})

describe('messages that were not sent before a reload', () => {
  it('are sent in order, including those in the storage format of earlier versions', async () => {
    const entry = (id: string, at: string) => ({
      ...buildText(id),
      chat_id: 'chat',
      created_at: at,
      failed: 'unreachable',
    })
    items.set('atelier.unsent@alice', JSON.stringify([entry('b', '2026-11-20T10:00:00Z')]))
    items.set('atelier.unsent.a@alice', JSON.stringify(entry('a', '2026-11-20T11:00:00Z')))
    await loadPage('alice')
    await vi.advanceTimersByTimeAsync(100)
    expect(listPosted()).toEqual(['b', 'a'])
    expect([...items.keys()]).toEqual([])
  })

  it('are kept without sending if they were rejected', async () => {
    const first = await loadPage('alice')
    handlePost = () => Promise.resolve(respond(403, { error: { code: 'forbidden', message: 'No.' } }))
    await first.send('chat', buildText('one'))
    await loadPage('alice')
    await vi.advanceTimersByTimeAsync(60_000)
    expect(listPosted()).toEqual(['one'])
    expect(items.get('atelier.unsent.one@alice')).toContain('"failed":"forbidden"')
  })
})

describe('FAIR6: messages that one person could not send', () => {
  it('are neither sent nor shown for the next person, and wait for their author', async () => {
    const alice = await loadPage('alice')
    handlePost = () => Promise.reject(new TypeError('Failed to fetch'))
    await alice.send('chat', buildText('private'))
    posts.length = 0
    handlePost = post => Promise.resolve(respond(201, { kind: 'message', id: post.id, version: 1 }))

    const bob = await loadPage('bob')
    await bob.send('chat', buildText('mine'))
    expect(listPosted()).toEqual(['mine'])

    const again = await loadPage('alice')
    await again.sendAgain('private')
    await vi.waitFor(() => expect(listPosted()).toEqual(['mine', 'private']))
  })
})
