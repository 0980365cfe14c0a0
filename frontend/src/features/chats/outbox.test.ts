import { afterEach, describe, expect, it, vi } from 'vitest'
import { send } from './outbox'

const refusal = { error: { code: 'limit_reached', message: 'Too many.', hints: [], data: { seconds: 7 } } }
const json = { 'content-type': 'application/json' }

describe('what was said too fast', () => {
  afterEach(() => {
    vi.unstubAllGlobals()
    vi.useRealTimers()
  })

  it('is kept, and sent again under the same id when the server said', async () => {
    vi.useFakeTimers()
    const bodies: { id: string; text: string }[] = []
    vi.stubGlobal('document', { cookie: 'csrftoken=x' })
    vi.stubGlobal('fetch', (_: string, { body }: { body: string }) => {
      bodies.push(JSON.parse(body))
      return Promise.resolve(new Response(JSON.stringify(refusal), { status: 429, headers: json }))
    })
    await send('chat', { id: 'one', text: 'hello', wake: 'auto' })
    await vi.advanceTimersByTimeAsync(6_900)
    expect(bodies).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(200)
    expect(bodies.map(({ id, text }) => [id, text])).toEqual([
      ['one', 'hello'],
      ['one', 'hello'],
    ])
  })
})
