import { afterEach, expect, it, vi } from 'vitest'
import { renderHook } from 'vitest-browser-react'
import type { ListedChatRow, MessageRow } from '@/api'
import { closeChat, loadChat } from '@/testing/chatSocket'
import { messageRow } from '@/testing/rows'
import { useReading } from './reading'

const row = (seq: number) => messageRow(seq, { author_id: 'bob' })
const log = [1, 2, 3, 4, 5, 6].map(row)
const listedChat = { last_read_seq: 6, unread: 0 } as ListedChatRow

const read = (messages: readonly MessageRow[]) =>
  renderHook(
    (props?: { messages: readonly MessageRow[] }) =>
      useReading({
        ...{ chatId: 'c', listedChat, from: 1, hasOlder: false, me: 'alice', onRead: () => undefined },
        messages: props?.messages ?? messages,
      }),
    { initialProps: { messages } },
  )

afterEach(() => {
  vi.restoreAllMocks()
  closeChat()
})

it('counts as new what arrives while the page is hidden, also if an older part of the log is shown', async () => {
  await loadChat(log)
  const { result, rerender } = await read(log.slice(0, 2))
  const visibility = vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden')
  document.dispatchEvent(new Event('visibilitychange'))
  visibility.mockReturnValue('visible')
  await rerender({ messages: log })
  expect(result.current).toMatchObject({ unreadAfter: 6, isCaughtUp: true, count: 0 })
  const other = messageRow(7, { author_id: 'robin', group_seq: 2 })
  await rerender({ messages: [...log, other] })
  expect(result.current, 'another answer in the place of one that was read').toMatchObject({
    isCaughtUp: true,
    count: 0,
  })
  await rerender({ messages: [...log, row(7)] })
  expect(result.current).toMatchObject({ unreadAfter: 6, isCaughtUp: false, count: 1 })
})
