import { afterEach, expect, it, vi } from 'vitest'
import { userEvent } from 'vitest/browser'
import { render } from 'vitest-browser-react'
import { type AgentRow, ApiError, type MemoryRow, type NoteRow } from '@/api'
import { answerRequests, listChanges, page, withQueries } from '@/testing/restServer'
import { History } from './History'
import { NoteEditor } from './NoteEditor'

const note = { id: 'note', text: 'Prefers trains.', scope: 'workspace', chat_id: null, revision: 1 } as NoteRow
const newer = { ...note, text: 'Prefers buses.', revision: 2 }

afterEach(() => vi.restoreAllMocks())

it('saves a note again after another person has changed it, and after a failed request', async () => {
  const onClose = vi.fn()
  const onSave = vi
    .fn<Parameters<typeof NoteEditor>[0]['onSave']>()
    .mockRejectedValueOnce(new ApiError(409, 'stale_revision', 'It was changed.', [], { note: newer }))
    .mockRejectedValueOnce(new Error('no network'))
    .mockResolvedValueOnce(newer)
  const screen = await render(<NoteEditor note={note} chats={[]} onSave={onSave} onClose={onClose} />)
  const text = screen.getByRole('textbox', { name: 'Note' })
  await userEvent.fill(text.element(), 'Prefers ships.')
  const save = screen.getByRole('button', { name: 'Save note' })
  await save.click()
  await expect.element(screen.getByRole('alert')).toHaveTextContent('Prefers buses.')
  await save.click()
  await vi.waitFor(() => expect(onSave).toHaveBeenCalledTimes(2))
  await expect.element(text).toHaveValue('Prefers ships.')
  await save.click()
  await vi.waitFor(() => expect(onClose).toHaveBeenCalledOnce())
  expect(onSave.mock.calls.map(([text, , , stored]) => [text, stored?.revision])).toEqual([
    ['Prefers ships.', undefined],
    ['Prefers ships.', 2],
    ['Prefers ships.', 2],
  ])
})

it('keeps a note when Escape ends the composition of a character', async () => {
  const onClose = vi.fn()
  const screen = await render(<NoteEditor note={note} chats={[]} onSave={vi.fn()} onClose={onClose} />)
  const text = screen.getByRole('textbox', { name: 'Note' }).element()
  text.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true, isComposing: true }))
  expect(onClose).not.toHaveBeenCalled()
  text.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }))
  expect(onClose).toHaveBeenCalledOnce()
})

it('clears the history again after that has failed once', async () => {
  let tries = 0
  const requests = answerRequests(({ method }) => {
    if (method === 'GET') return [200, page([])]
    tries += 1
    return tries === 1 ? [500, {}] : [200, { id: 'clearing' }]
  })
  const memory = { agent_id: 'a', entries: 3, hidden_entries: 0, can_edit: true, max_tokens: 1_000 } as MemoryRow
  const agent = { actor: { id: 'a', name: 'Scribe' } } as AgentRow
  const screen = await render(
    withQueries(<History {...{ agent, workspaceId: 'w', chats: [], memory }} onOpenChat={vi.fn()} onEdit={vi.fn()} />),
  )
  for (const count of [1, 2]) {
    await screen.getByRole('button', { name: 'Clear…' }).click()
    await screen.getByRole('dialog').getByRole('button', { name: 'Clear…' }).click()
    await vi.waitFor(() => expect(listChanges(requests)).toHaveLength(count))
    await expect.element(screen.getByRole('dialog')).not.toBeInTheDocument()
  }
})
