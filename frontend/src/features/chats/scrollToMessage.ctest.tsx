import { afterEach, expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import type { MessagePage, MessageRow } from '@/api'
import { upsertRows } from '@/realtime'
import { message } from '@/realtime/server.testing'
import { emptyPart } from '@/testing/chatContext'
import { closeChat, loadChat } from '@/testing/chatSocket'
import { answerRequests, page } from '@/testing/restServer'
import { messageRow } from '@/testing/rows'
import { shownAnswers } from './otherAnswers'
import { useScrollToMessage } from './scrollToMessage'

const old = message('m1', 1, 1, 'old')
const loaded = message('m9', 9, 9, 'loaded')
const open = vi.fn()
const calls: Promise<void>[] = []
const part = { ...emptyPart, open }

function Log({ messages }: { messages: readonly MessageRow[] }) {
  const { target, goTo, goToSeq } = useScrollToMessage('c', null, null, messages, part)
  return (
    <>
      <button type="button" onClick={() => calls.push(goTo('m1'))}>
        old
      </button>
      <button type="button" onClick={() => calls.push(goToSeq(1))}>
        old by number
      </button>
      <button type="button" onClick={() => calls.push(goTo('m9'))}>
        loaded
      </button>
      <button type="button" onClick={() => calls.push(goTo('m8'))}>
        other answer
      </button>
      <output>{target ? `${target.id} ${target.number}` : 'none'}</output>
    </>
  )
}

afterEach(() => {
  vi.restoreAllMocks()
  closeChat()
  shownAnswers.set(new Map())
  open.mockReset()
  calls.length = 0
})

it('opens the part of the log with a message that is not loaded, and scrolls to it', async () => {
  answerRequests(() => [200, page([old])])
  const screen = await render(<Log messages={[loaded]} />)
  await screen.getByRole('button', { name: 'old', exact: true }).click()
  await expect.element(screen.getByRole('status')).toHaveTextContent('m1 1')
  expect(open).toHaveBeenCalledExactlyOnceWith(page([old]))
})

it.each(['old', 'old by number'])(
  'scrolls to the message that was chosen last, although "%s" is answered later',
  async name => {
    let answer = (_: [number, unknown]) => {}
    const requests = answerRequests(() => new Promise(resolve => (answer = resolve)))
    const screen = await render(<Log messages={[loaded]} />)
    await screen.getByRole('button', { name, exact: true }).click()
    await vi.waitFor(() => expect(requests).toHaveLength(1))
    await screen.getByRole('button', { name: 'loaded' }).click()
    await expect.element(screen.getByRole('status')).toHaveTextContent('m9 1')
    answer([200, page([old])])
    await Promise.all(calls)
    await expect.element(screen.getByRole('status')).toHaveTextContent('m9 1')
    expect(requests).toHaveLength(1)
    expect(open).not.toHaveBeenCalled()
  },
)

it('shows an answer that is not in use in the place of the first one, which is on an older page', async () => {
  const first = messageRow(2, { run_id: 'r1', author_id: 'robin' })
  const other = messageRow(8, { run_id: 'r2', author_id: 'robin', group_seq: 2, is_unused: true })
  await loadChat([other, loaded], [], true)
  open.mockImplementation(({ results }: MessagePage) => upsertRows('c', results))
  answerRequests(() => [200, page([first])])
  const screen = await render(<Log messages={[other, loaded]} />)
  await screen.getByRole('button', { name: 'other answer' }).click()
  await expect.element(screen.getByRole('status')).toHaveTextContent('m8 1')
  expect(open).toHaveBeenCalledExactlyOnceWith(page([first]))
  expect(shownAnswers.get().get('r1')).toEqual({ runId: 'r2', count: 2 })
})
