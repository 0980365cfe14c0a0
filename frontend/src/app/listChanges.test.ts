import { expect, it } from 'vitest'
import { applyChangedRows, applyChatActivity, type ChatActivity, type ListedChatRow } from '@/api'
import { messageRow } from '@/testing/rows'

const day = (number: number) => `2026-01-0${number}T00:00:00Z`
const listed = (id: string, at: number) =>
  ({
    chat: { id, created_at: day(at) },
    members: [],
    unread: 0,
    mentioned: false,
    last_read_seq: 0,
    last_message: null,
  }) as unknown as ListedChatRow
const activity = (chat_id: string, unread: number, at: number) =>
  ({ chat_id, unread, mentioned: true, last_read_seq: 4, last_message: { created_at: day(at) } }) as ChatActivity

it('puts the chat with the newest message first, with its unread count, and leaves the others unchanged', () => {
  const chats = [listed('a', 3), listed('b', 2), listed('c', 1)]
  const after = applyChatActivity(chats, activity('c', 7, 5))
  expect(after?.map(row => row.chat.id)).toEqual(['c', 'a', 'b'])
  expect(after?.[0]).toMatchObject({ unread: 7, mentioned: true, last_read_seq: 4 })
  expect(after?.[1]).toBe(chats[0])
})

const last = (id: string, version: number, text: string) => messageRow(1, { id, version, payload: { text } })

it('shows the present text of the last message of an open chat', () => {
  const chats = [
    { ...listed('a', 3), last_message: last('m1', 4, 'The code is 4711.') },
    { ...listed('b', 2), last_message: last('m2', 9, 'Hello') },
  ]
  const edited = last('m1', 5, 'The code is 4712.')
  expect(applyChangedRows(chats, [last('other', 6, 'x'), edited])?.map(row => row.last_message)).toEqual([
    edited,
    chats[1]?.last_message,
  ])
  expect(applyChangedRows(chats, [last('m1', 4, 'older'), last('m2', 8, 'older')])).toBeNull()
})

it('returns null for a chat that is not in the list', () => {
  expect(applyChatActivity([listed('a', 1)], activity('b', 1, 2))).toBeNull()
})
