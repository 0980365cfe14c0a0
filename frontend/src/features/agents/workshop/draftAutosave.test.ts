import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { DraftRow, SpecContent } from '@/api'
import { store } from './draftAutosave'

const content = (prompt: string) => ({ prompt, tools: [] }) as unknown as SpecContent
const place = { personId: 'ann', chatId: 'c', agentId: 'a' }
const row = (revision: number, prompt: string) =>
  ({ id: 'd', revision, written: content(prompt) }) as unknown as DraftRow

/** Answers of the server, in order; what it was asked is kept. */
function server(...answers: [status: number, body: unknown][]) {
  const asked: unknown[] = []
  vi.stubGlobal('fetch', async (request: Request) => {
    asked.push(await request.json())
    const [status, answer] = answers.shift() ?? [500, {}]
    return new Response(JSON.stringify(answer), { status, headers: { 'content-type': 'application/json' } })
  })
  return asked
}

const stale = (draft: DraftRow): [number, unknown] => [
  409,
  { error: { code: 'stale_revision', message: '', data: { draft } } },
]

beforeEach(() => void vi.stubGlobal('document', { cookie: 'csrftoken=x' }))

describe('EDIT2: storing a text whose time to write has run out', () => {
  it('begins anew where nobody wrote since', async () => {
    const asked = server(stale(row(4, 'old')), [200, row(5, 'mine')])
    const stored = await store(place, { content: content('mine'), revision: 4 })
    expect(stored.revision).toBe(5)
    expect(asked).toMatchObject([{ revision: 4 }, { revision: null, content: content('mine') }])
  })

  it('is done already where the same text arrived before, and its answer was lost', async () => {
    const asked = server(stale(row(5, 'mine')))
    expect((await store(place, { content: content('mine'), revision: 4 })).revision).toBe(5)
    expect(asked).toHaveLength(1)
  })

  it('overwrites nothing that somebody wrote since', async () => {
    const asked = server(stale(row(6, 'theirs')))
    await expect(store(place, { content: content('mine'), revision: 4 })).rejects.toMatchObject({
      code: 'stale_revision',
    })
    expect(asked).toHaveLength(1)
  })
})
