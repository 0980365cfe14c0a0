import { expect, it } from 'vitest'
import type { ChatState } from '@/realtime'
import { messageRow } from '@/testing/rows'
import { selectReadMarks } from './readMarks'

const agent = (id: string, last_read_seq: number | null, more = {}) =>
  [id, { kind: 'participant', actor: { id, kind: 'agent' }, last_read_seq, ended: false, ...more }] as const

it('marks the last message of others that each agent in the chat has read', () => {
  const participants = new Map([
    agent('scribe', 4),
    agent('writer', 2),
    agent('reader', 0),
    agent('gone', 4, { ended: true }),
    agent('bob', 4, { actor: { id: 'bob', kind: 'human' } }),
  ])
  const log = [
    messageRow(1),
    messageRow(2),
    messageRow(3, { author_id: 'scribe', run_id: 'r' }),
    messageRow(4, { type: 'THINKING' }),
    messageRow(5),
  ]
  const chat = { rows: { participant: participants }, log } as unknown as ChatState
  expect(selectReadMarks(chat)).toEqual(['m2 scribe', 'm2 writer'])
})
