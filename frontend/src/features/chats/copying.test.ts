import { expect, it } from 'vitest'
import type { MessageRow } from '@/api'
import type { ChatState } from '@/realtime'
import { messageRow } from '@/testing/rows'
import { findMarkdown } from './copying'

const find = (rows: readonly MessageRow[], id: string) =>
  findMarkdown({ log: rows, rows: { message: new Map(rows.map(row => [row.id, row])) } } as unknown as ChatState, id)

it('copies the texts of a whole reply, without what sub-agents wrote and without calls', () => {
  const reply = { author_id: 'robin', run_id: 'r' }
  const rows = [
    messageRow(1, { payload: { text: 'Which **river**?' } }),
    messageRow(2, { ...reply, payload: { text: 'I look.' } }),
    messageRow(3, { ...reply, type: 'TOOL_CALL', payload: { call_id: 'a', name: 'look', arguments: '{}' } }),
    messageRow(4, { ...reply, payload: { text: 'inner' }, metadata: { agent: {}, call_id: 'a' } } as never),
    messageRow(5, { payload: { text: 'And?' } }),
    messageRow(6, { ...reply, payload: { text: 'The *Seine*.' } }),
  ]
  expect(find(rows, 'm2')).toBe('I look.\n\nThe *Seine*.')
  expect(find(rows, 'm1')).toBe('Which **river**?')
  expect(find(rows, 'm9')).toBe('')
})
