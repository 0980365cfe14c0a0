import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { DraftRow, SpecContent } from '@/api'
import { storeDraft } from './draftAutosave'

const content = (prompt: string) => ({ prompt, tools: [] }) as unknown as SpecContent
const draftKey = { personId: 'ann', chatId: 'c', agentId: 'a' }
const row = (revision: number, prompt: string) =>
  ({ id: 'd', revision, written: content(prompt) }) as unknown as DraftRow

/** Mocks the responses of the server, in order. Returns the list of request bodies. */
function mockServer(...responses: [status: number, body: unknown][]) {
  const requests: unknown[] = []
  vi.stubGlobal('fetch', async (request: Request) => {
    requests.push(await request.json())
    const [status, body] = responses.shift() ?? [500, {}]
    return new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } })
  })
  return requests
}

const stale = (draft: DraftRow): [number, unknown] => [
  409,
  { error: { code: 'stale_revision', message: '', data: { draft } } },
]

beforeEach(() => void vi.stubGlobal('document', { cookie: 'csrftoken=x' }))

describe('EDIT2: storing a text after the lock expired', () => {
  it('acquires the lock again when the draft is unchanged', async () => {
    const requests = mockServer(stale(row(4, 'old')), [200, row(5, 'mine')])
    const stored = await storeDraft(draftKey, { content: content('mine'), revision: 4 })
    expect(stored.revision).toBe(5)
    expect(requests).toMatchObject([{ revision: 4 }, { revision: null, content: content('mine') }])
  })

  it('sends nothing more when the same text is stored already', async () => {
    const requests = mockServer(stale(row(5, 'mine')))
    expect((await storeDraft(draftKey, { content: content('mine'), revision: 4 })).revision).toBe(5)
    expect(requests).toHaveLength(1)
  })

  it('does not overwrite a newer text', async () => {
    const requests = mockServer(stale(row(6, 'theirs')))
    await expect(storeDraft(draftKey, { content: content('mine'), revision: 4 })).rejects.toMatchObject({
      code: 'stale_revision',
    })
    expect(requests).toHaveLength(1)
  })
})
