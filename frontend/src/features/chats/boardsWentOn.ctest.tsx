import { afterEach, expect, it } from 'vitest'
import { render } from 'vitest-browser-react'
import type { BoardTaskRow } from '@/api'
import { chatState, chatTopic, useTopic } from '@/realtime'
import { closeChat, loadChat } from '@/testing/chatSocket'
import { boardRow, boardTaskRow, taskResult } from '@/testing/rows'
import { toasts } from '@/ui/toast'
import { useBoardsWentOn } from './boardsWentOn'

function Page() {
  useTopic(chatTopic('c'))
  useBoardsWentOn('c')
  return null
}

const running = (number: number) => boardTaskRow(number, { state: 'running', attempt: 1, run_id: `r${number}` })
const ended = (number: number, more: Partial<BoardTaskRow> = {}) =>
  boardTaskRow(number, {
    state: 'succeeded',
    version: 2,
    results: [taskResult()],
    ended_at: '2026-11-20T10:01:00Z',
    ...more,
  })

/** Loses the connection and gets it again; the chat has these tasks then. */
async function reconnect(tasks: readonly BoardTaskRow[]) {
  window.dispatchEvent(new Event('offline'))
  const loading = loadChat([boardRow(), ...tasks])
  window.dispatchEvent(new Event('online'))
  await loading
}

afterEach(() => {
  closeChat()
  toasts.set(null)
})

it('says how many tasks were done while there was no connection, once', async () => {
  await loadChat([boardRow(), running(1), running(2), running(3), running(4)])
  await render(<Page />)
  const failed = ended(3, { state: 'failed', reason_code: 'timeout_total', results: [] })
  await reconnect([ended(1), ended(2), failed, running(4)])
  const listTexts = () => toasts.get()?.map(toast => toast.text)
  await expect.poll(listTexts).toEqual(['Connected again. The board went on: 2 more tasks are done.'])
  toasts.set([])
  await reconnect([ended(1), ended(2), failed, running(4)])
  expect(chatState('c').rows.board_task.get('t4')?.state).toBe('running')
  expect(listTexts()).toEqual([])
})
