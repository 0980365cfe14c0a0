import { expect, it } from 'vitest'
import { applyChatActivity, type ChatActivity, type ListedChatRow } from '@/api'

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

it('returns null for a chat that is not in the list', () => {
  expect(applyChatActivity([listed('a', 1)], activity('b', 1, 2))).toBeNull()
})
