import { expect, it } from 'vitest'
import type { ChatSummaryRow } from '@/api'
import { inOrder } from './chatOrder'

const chats = (...ids: string[]) => ids.map(id => ({ chat: { id } }) as ChatSummaryRow)
const idsOf = (rows: readonly ChatSummaryRow[]) => rows.map(row => row.chat.id)

it('keeps the chats where they stood, with new ones at the top', () => {
  expect(idsOf(inOrder(chats('c', 'a', 'b'), ['a', 'b', 'c']))).toEqual(['a', 'b', 'c'])
  expect(idsOf(inOrder(chats('new', 'b', 'a'), ['a', 'b', 'gone']))).toEqual(['new', 'a', 'b'])
})
