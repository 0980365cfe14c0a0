import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import type { RunRow, TextMessageRow } from '@/api'
import { chatState } from '@/realtime'
import { buildChatContext } from '@/testing/chatContext'
import { closeChat, loadChat } from '@/testing/chatSocket'
import { answerRequests, listChanges } from '@/testing/restServer'
import { messageRow } from '@/testing/rows'
import { Toasts } from '@/ui/Toasts'
import { removeToast, toasts } from '@/ui/toast'
import { ChatContext } from './components/ChatContext'
import { DeleteDialog } from './components/DeleteDialog'
import { deleteWithUndo, listRunsAnswering } from './deleting'
import { canDelete, findRowToDelete, pendingDeletions } from './deletions'

const row = messageRow(2) as TextMessageRow
let requests: ReturnType<typeof answerRequests>
let status: number

beforeEach(() => {
  status = 200
  requests = answerRequests(() =>
    status === 200 ? [200, row] : [403, { error: { code: 'forbidden', message: '', hints: [] } }],
  )
})
afterEach(() => {
  for (const toast of toasts.get() ?? []) removeToast(toast.id)
  closeChat()
  vi.restoreAllMocks()
})

const deletion = ['DELETE /messages/m2?stop_runs=false', null]
const isPending = () => pendingDeletions.get().has('m2')

it('deletes a message when the notice that offers to undo it is gone', async () => {
  deleteWithUndo(row)
  expect(isPending()).toBe(true)
  expect(listChanges(requests)).toEqual([])
  removeToast(toasts.get()?.at(-1)?.id ?? 0)
  await expect.poll(() => listChanges(requests)).toEqual([deletion])
  await expect.poll(isPending).toBe(false)
})

it('deletes nothing when that is undone', async () => {
  const screen = await render(<Toasts />)
  deleteWithUndo(row)
  await screen.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(() => toasts.get()).toEqual([])
  expect(isPending()).toBe(false)
  expect(listChanges(requests)).toEqual([])
})

it('deletes at once when the page is left, and shows the message again when that is refused', async () => {
  status = 403
  deleteWithUndo(row)
  dispatchEvent(new Event('pagehide'))
  await expect.poll(() => listChanges(requests)).toEqual([deletion])
  await expect.poll(isPending).toBe(false)
  expect(toasts.get()?.map(toast => toast.action)).toEqual([null])
})

const run = (state: RunRow['state'], more: Partial<RunRow> = {}) =>
  ({ kind: 'run', id: state, chat_id: 'c', version: 1, agent_id: 'robin', trigger_id: 'm2', state, ...more }) as RunRow

it('asks what becomes of an answer that has begun', async () => {
  await loadChat([
    run('running', { attempt: 1 }),
    run('queued', { attempt: 0 }),
    run('completed', { attempt: 1 }),
    run('waiting_child', { attempt: 1, trigger_id: 'm1' }),
    run('waiting_board', { attempt: 1, trigger_id: 'm1', answered_ids: ['m1', 'm2'] }),
    run('queued', { id: 'queued again', attempt: 1, on_behalf_of: 'me' }),
  ])
  // A suggester may stop only what works for them.
  expect(listRunsAnswering(chatState('c'), 'm2', 'me', false).map(({ id }) => id)).toEqual(['queued again'])
  const runs = listRunsAnswering(chatState('c'), 'm2', 'me', true)
  expect(runs.map(({ id }) => id)).toEqual(['running', 'waiting_board', 'queued again'])
  const onClose = vi.fn()
  const findActor = () => ({ id: 'robin', name: 'Robin', kind: 'agent' }) as never
  const screen = await render(
    <ChatContext value={buildChatContext({ findActor })}>
      <DeleteDialog row={row} runs={runs} onClose={onClose} />
    </ChatContext>,
  )
  await expect.element(screen.getByRole('dialog', { name: 'Robin is answering this message.' })).toBeVisible()
  await screen.getByRole('button', { name: 'Delete and stop' }).click()
  expect(onClose).toHaveBeenCalledOnce()
  await expect.poll(() => listChanges(requests)).toEqual([['DELETE /messages/m2?stop_runs=true', null]])
})

it('deletes of a reply its last text, and nothing of sub-agents and comparisons', () => {
  const rows = [
    messageRow(1, { author_id: 'robin', run_id: 'r' }),
    messageRow(2, { author_id: 'robin', run_id: 'r', type: 'TOOL_CALL' }),
    messageRow(3, { author_id: 'robin', run_id: 'r' }),
    messageRow(4, { author_id: 'robin', run_id: 'r', payload: { text: '', is_deleted: true } }),
    messageRow(5, { author_id: 'robin', payload: { text: '', stamp: { compared: 'x' } } }),
  ]
  const chat = { log: rows, rows: { message: new Map(rows.map(one => [one.id, one])) } } as never
  expect(findRowToDelete(chat, 'm1', 'alice', true)?.id).toBe('m3')
  expect(findRowToDelete(chat, 'm1', 'alice', false)).toBeUndefined()
  expect(canDelete(rows[4], 'alice', true)).toBe(false)
})
