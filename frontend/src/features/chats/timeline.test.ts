import { describe, expect, it } from 'vitest'
import type { MessageRow, RunRow } from '@/api'
import { itemsOf } from './timeline'

const row = (seq: number, more: Partial<MessageRow> = {}): MessageRow => ({
  kind: 'message',
  id: `m${seq}`,
  chat_id: 'c',
  version: seq,
  seq,
  author_id: 'alice',
  type: 'TEXT_MESSAGE',
  payload: { text: '' },
  reply_to: null,
  run_id: null,
  created_at: `2026-11-20T10:0${seq}:00`,
  edited_at: null,
  deleted: false,
  ...more,
})
const said = (seq: number, runId: string, type = 'TEXT_MESSAGE') =>
  row(seq, { run_id: runId, author_id: 'robin', type })
const run = (id: string): RunRow => ({
  kind: 'run',
  id,
  chat_id: 'c',
  version: 9,
  agent_id: 'robin',
  state: 'running',
  attempt: 1,
  trigger_id: null,
  on_behalf_of: null,
  stamp: null,
  stopping: false,
  error_code: null,
  error: null,
  created_at: '2026-11-20T10:09:00',
  started_at: null,
  ended_at: null,
})

const shape = (messages: MessageRow[], active: RunRow[] = [], readSeq = 0, lastSeq = 99) =>
  itemsOf({ messages, unsent: [], active, atOpening: { readSeq, lastSeq }, me: 'alice' })
    .filter(item => item.kind !== 'day')
    .map(item => {
      if (item.kind === 'reply')
        return `${item.runId}:${item.rows.map(each => each.seq).join(',')}${item.last ? '!' : ''}`
      return item.kind === 'said' ? `${item.more ? '+' : ''}${item.row.seq}` : item.kind
    })

describe('itemsOf', () => {
  it('makes one reply of the rows of one run', () => {
    expect(
      shape([row(1), said(2, 'r', 'THINKING'), said(3, 'r', 'TOOL_CALL'), said(4, 'r', 'TOOL_RESPONSE'), said(5, 'r')]),
    ).toEqual(['1', 'r:2,3,4,5!'])
  })

  it('keeps two replies apart that were said at the same time', () => {
    expect(shape([row(1), said(2, 'a'), said(3, 'b'), said(4, 'a'), said(5, 'b')])).toEqual(['1', 'a:2,4!', 'b:3,5!'])
  })

  it('goes on below when a person has spoken meanwhile; the stamp stands at the end only', () => {
    expect(shape([said(1, 'r'), row(2), said(3, 'r')])).toEqual(['r:1', '2', 'r:3!'])
  })

  it('puts the end of a run with its reply', () => {
    expect(shape([said(1, 'r'), row(2, { type: 'RUN_STOPPED', author_id: null, payload: { run_id: 'r' } })])).toEqual([
      'r:1,2!',
    ])
  })

  it('shows a run that has said nothing yet at the end', () => {
    expect(shape([row(1)], [run('r')])).toEqual(['1', 'r:!'])
    expect(shape([said(1, 'r')], [run('r')])).toEqual(['r:1!'])
  })

  it('groups what one person says within five minutes, unless it answers something', () => {
    expect(shape([row(1), row(2), row(3, { reply_to: 'm1' }), row(9)])).toEqual(['1', '+2', '3', '9'])
  })

  it('marks the first line that somebody else wrote since the reader was here', () => {
    expect(shape([row(1), row(2), row(3, { author_id: 'bob' })], [], 1)).toEqual(['1', '+2', 'new', '3'])
    expect(shape([row(1, { author_id: 'bob' })], [], 0)).toEqual(['1'])
    expect(shape([row(1), row(2, { author_id: 'bob' })], [], 1, 1)).toEqual(['1', '2'])
  })
})
