import { afterEach, expect, it, vi } from 'vitest'
import type { DraftRow, SpecContent } from '@/api'
import { closeChat, loadChat } from '@/testing/chatSocket'
import { applyOpenDraft } from './applyDraft'

const written = { prompt: 'Written.', tools: [] } as unknown as SpecContent
const applied = { ...written, prompt: 'Applied.' }

/** Applies the draft as it is open in the workshop. Returns the result, and how often the text of this person was applied. */
async function apply(workshop: { isMine: boolean; applied: SpecContent | null }) {
  const actions = { apply: vi.fn(async () => null) }
  const isApplied = await applyOpenDraft('c', 'scribe', 'ann', { ...workshop, content: written }, actions)
  return [isApplied, actions.apply.mock.calls.length]
}

const draftOfBob = (applied: SpecContent | null) =>
  ({
    kind: 'draft',
    id: 'd',
    chat_id: 'c',
    version: 1,
    agent_id: 'scribe',
    status: 'drafting',
    lock_holder_id: 'bob',
    written,
    applied,
  }) as DraftRow

afterEach(() => closeChat())

it('does not take a draft for applied that another person never applied', async () => {
  await loadChat([draftOfBob(null)])
  expect(await apply({ isMine: false, applied: null })).toEqual([false, 0])
})

it('leaves the draft of another person as it was applied', async () => {
  await loadChat([draftOfBob(applied)])
  expect(await apply({ isMine: false, applied })).toEqual([true, 0])
})

it('applies what this person is writing, unless it is applied already', async () => {
  expect(await apply({ isMine: true, applied })).toEqual([false, 1])
  expect(await apply({ isMine: true, applied: written })).toEqual([true, 0])
})
