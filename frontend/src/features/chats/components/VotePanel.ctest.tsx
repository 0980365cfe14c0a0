import { afterEach, expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import type { ComparisonPayload } from '@/api'
import { buildChatContext } from '@/testing/chatContext'
import { answerByPath, withQueries } from '@/testing/restServer'
import { ChatContext } from './ChatContext'
import { VotePanel } from './VotePanel'

const comparison = {
  target_id: 'scribe',
  draft: { draft_apply: 2 },
  production: { version: 1 },
  votes: [],
  ended: false,
} as unknown as ComparisonPayload

afterEach(() => vi.restoreAllMocks())

async function show(verbs: readonly string[], changes: Partial<ComparisonPayload> = {}) {
  const requests = answerByPath({ 'GET /agents/scribe': { actor: { id: 'scribe' }, spec: { number: 3 }, verbs } })
  const saveDraft = vi.fn()
  const screen = await render(
    withQueries(
      <ChatContext value={buildChatContext({ saveDraft })}>
        <VotePanel id="m1" comparison={{ ...comparison, ...changes }} />
      </ChatContext>,
    ),
  )
  await expect.element(screen.getByRole('button', { name: 'Draft r2' })).toBeVisible()
  return { screen, saveDraft, requests, save: screen.getByRole('button', { name: 'Save as v4…' }) }
}

it('saves the draft beside the votes', async () => {
  const { save, saveDraft } = await show(['save_agent'])
  await save.click()
  expect(saveDraft).toHaveBeenCalledExactlyOnceWith('scribe')
})

it('offers no saving to those who may not, nor when the draft has ended', async () => {
  const { save, requests, screen } = await show(['suggest'])
  await vi.waitFor(() => expect(requests).toHaveLength(1))
  await expect.element(save).not.toBeInTheDocument()
  await screen.unmount()
  const ended = await show(['save_agent'], { ended: true })
  await expect.element(ended.save).not.toBeInTheDocument()
})
