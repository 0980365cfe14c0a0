import { expect, it } from 'vitest'
import type { ListedChatRow } from '@/api'
import { sortByOrder } from './chatOrder'

const chats = (...ids: string[]) => ids.map(id => ({ chat: { id } }) as ListedChatRow)
const listIds = (rows: readonly ListedChatRow[]) => rows.map(row => row.chat.id)

it('keeps the order of known chats and puts new chats first', () => {
  expect(listIds(sortByOrder(chats('c', 'a', 'b'), ['a', 'b', 'c']))).toEqual(['a', 'b', 'c'])
  expect(listIds(sortByOrder(chats('new', 'b', 'a'), ['a', 'b', 'gone']))).toEqual(['new', 'a', 'b'])
})
