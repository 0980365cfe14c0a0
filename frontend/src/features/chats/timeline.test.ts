import { describe, expect, it } from 'vitest'
import type { MessageRow, RunRow } from '@/api'
import { type MessageChange, messageRow } from '@/testing/rows'
import { itemsOf } from './timeline'

const row = (seq: number, more: MessageChange = {}) =>
  messageRow(seq, { created_at: `2026-11-20T10:0${seq}:00`, ...more })
const agentRow = (seq: number, runId: string, type = 'TEXT_MESSAGE') =>
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
  triggered_by: null,
  stamp: null,
  stopping: false,
  error_code: null,
  error: null,
  next_try_at: null,
  created_at: '2026-11-20T10:09:00',
  started_at: null,
  ended_at: null,
})

const shape = (messages: MessageRow[], active: RunRow[] = [], newsAfter: number | null = null) =>
  itemsOf({ messages, unsent: [], active, newsAfter, me: 'alice' })
    .filter(item => item.kind !== 'day')
    .map(item => {
      if (item.kind === 'reply')
        return `${item.runId}:${item.rows.map(each => each.seq).join(',')}${item.last ? '!' : ''}`
      return item.kind === 'text' ? `${item.more ? '+' : ''}${item.row.seq}` : item.kind
    })

describe('itemsOf', () => {
  it('makes one reply of the rows of one run', () => {
    expect(
      shape([
        row(1),
        agentRow(2, 'r', 'THINKING'),
        agentRow(3, 'r', 'TOOL_CALL'),
        agentRow(4, 'r', 'TOOL_RESPONSE'),
        agentRow(5, 'r'),
      ]),
    ).toEqual(['1', 'r:2,3,4,5!'])
  })

  it('leaves a run that failed without a word below its question', () => {
    expect(shape([row(1), row(2), agentRow(3, 'r', 'RUN_FAILED')])).toEqual(['1', '+2', 'r:3!'])
    expect(shape([row(1), agentRow(2, 'r', 'TOOL_RESPONSE')])).toEqual(['1', 'r:2!'])
  })

  it('keeps two concurrent replies apart', () => {
    expect(shape([row(1), agentRow(2, 'a'), agentRow(3, 'b'), agentRow(4, 'a'), agentRow(5, 'b')])).toEqual([
      '1',
      'a:2,4!',
      'b:3,5!',
    ])
  })

  it('goes on below when a person has spoken meanwhile; the stamp stands at the end only', () => {
    expect(shape([agentRow(1, 'r'), row(2), agentRow(3, 'r')])).toEqual(['r:1', '2', 'r:3!'])
  })

  it('puts the end of a run with its reply', () => {
    expect(
      shape([agentRow(1, 'r'), row(2, { type: 'RUN_STOPPED', author_id: null, payload: { run_id: 'r' } })]),
    ).toEqual(['r:1,2!'])
  })

  it('shows a run without output at the end', () => {
    expect(shape([row(1)], [run('r')])).toEqual(['1', 'r:!'])
    expect(shape([agentRow(1, 'r')], [run('r')])).toEqual(['r:1!'])
  })

  it('groups what one person says within five minutes, unless it answers something', () => {
    expect(shape([row(1), row(2), row(3, { reply_to: 'm1' }), row(9)])).toEqual(['1', '+2', '3', '9'])
  })

  it('marks the first line that somebody else wrote since the reader was here', () => {
    expect(shape([row(1), row(2), row(3, { author_id: 'bob' })], [], 1)).toEqual(['1', '+2', 'new', '3'])
    expect(shape([row(1), row(2, { author_id: 'bob' })], [], null)).toEqual(['1', '2'])
    expect(shape([row(1), row(2, { type: 'SPEC_SAVED', author_id: 'bob' }), agentRow(3, 'r')], [], 1)).toEqual([
      '1',
      'system',
      'new',
      'r:3!',
    ])
  })

  it('names the author again after fifteen messages', () => {
    const many = Array.from({ length: 20 }, (_, at) => row(at, { created_at: '2026-11-20T10:00:00' }))
    expect(shape(many).filter(items => !items.startsWith('+'))).toEqual(['0', '15'])
  })
})

/** An id that was made at this second. */
const idAt = (second: number, n = 0) => {
  const ms = (Date.parse('2026-11-20T10:00:00') + second * 1_000).toString(16).padStart(12, '0')
  return `${ms.slice(0, 8)}-${ms.slice(8)}-7000-8000-${String(n).padStart(12, '0')}`
}
const at = (second: number) => ({
  created_at: new Date(Date.parse('2026-11-20T10:00:00') + second * 1_000).toISOString(),
})

describe('a reply while others speak', () => {
  const question = row(1, at(0))
  const meanwhile = row(2, at(5))

  it('stays where it began, while it streams and when it is done', () => {
    const live = new Map([['r', Date.parse('2026-11-20T10:00:00') + 1_000]])
    const items = itemsOf({
      messages: [question, meanwhile],
      unsent: [],
      active: [run('r')],
      liveSince: live,
      newsAfter: null,
      me: 'alice',
    })
    expect(items.map(item => item.kind)).toEqual(['day', 'text', 'reply', 'text'])
    const done = { ...agentRow(3, 'r'), ...at(9), id: idAt(1) }
    const thought = { ...agentRow(3, 'r', 'THINKING'), ...at(9) }
    expect(shape([question, meanwhile, done])).toEqual(['1', 'r:3!', '2'])
    expect(shape([question, meanwhile, thought, { ...done, seq: 4 }])).toEqual(['1', 'r:3,4!', '2'])
  })

  it('stands below a message that steered it between two steps', () => {
    const call = { ...agentRow(2, 'r', 'TOOL_CALL'), ...at(2) }
    const steering = { ...row(3), ...at(4) }
    const result = { ...agentRow(4, 'r', 'TOOL_RESPONSE'), ...at(6) }
    const answer = { ...agentRow(5, 'r'), ...at(9), id: idAt(2) }
    expect(shape([question, call, steering, result, answer])).toEqual(['1', 'r:2,4', '3', 'r:5!'])
  })

  it('keeps two answers with their own questions', () => {
    const first = { ...agentRow(3, 'a'), ...at(9), id: idAt(1) }
    const second = { ...agentRow(4, 'b'), ...at(12), id: idAt(10) }
    expect(shape([question, meanwhile, first, second])).toEqual(['1', 'a:3!', '2', 'b:4!'])
  })
})

describe('the question that a reply names', () => {
  const answer = (seq: number, runId: string, answers: string, author = 'robin') =>
    row(seq, { run_id: runId, author_id: author, payload: { text: '', answers } })
  const named = (...messages: MessageRow[]) =>
    itemsOf({ messages, unsent: [], active: [], newsAfter: null, me: 'alice' }).flatMap(item =>
      item.kind === 'reply' ? [item.answers] : [],
    )

  it('is none where the reply stands below it', () => {
    expect(named(row(1), answer(2, 'r', 'm1'))).toEqual([null])
    expect(named(row(1), answer(2, 'r', 'm1', 'wren'), answer(3, 's', 'm1'))).toEqual([null, null])
    expect(named(row(1), answer(2, 'r', 'm1'), answer(3, 's', 'm2', 'wren'))).toEqual([null, null])
  })

  it('is the one it answers where somebody asked something else in between', () => {
    expect(named(row(1), row(2), answer(3, 'r', 'm1'), answer(4, 's', 'm2'))).toEqual(['m1', 'm2'])
    expect(named(row(1), row(2), answer(3, 'r', 'm2'))).toEqual([null])
  })

  it('is the one it answers where that is far above, or not loaded', () => {
    const lines = [2, 3, 4, 5, 6, 7, 8].map(seq => row(seq, { type: 'SPEC_SAVED', author_id: null }))
    expect(named(row(1), ...lines, answer(9, 'r', 'm1'))).toEqual(['m1'])
    expect(named(answer(9, 'r', 'm1'))).toEqual(['m1'])
  })

  it('is known while the reply is awaited', () => {
    const items = itemsOf({
      messages: [row(1), row(2)],
      unsent: [],
      active: [{ ...run('r'), trigger_id: 'm1' }],
      newsAfter: null,
      me: 'alice',
    })
    expect(items.at(-1)).toMatchObject({ kind: 'reply', answers: 'm1' })
  })
})
