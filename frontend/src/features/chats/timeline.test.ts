import { describe, expect, it } from 'vitest'
import type { MessageRow, RunRow } from '@/api'
import { type MessageChange, messageRow } from '@/testing/rows'
import { placeAnswers } from './answerPlaces'
import { selectOtherAnswers } from './otherAnswers'
import { buildItems, containsMessage, getLastSeq } from './timeline'

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
  answered_ids: null,
  group_seq: null,
  parent_id: null,
  metadata: null,
  steps: 0,
  max_steps: null,
  on_behalf_of: null,
  triggered_by: null,
  stamp: null,
  stopping: false,
  error_code: null,
  error: null,
  retry_at: null,
  created_at: '2026-11-20T10:09:00',
  started_at: null,
  ended_at: null,
})

const formatItems = (messages: MessageRow[], active: RunRow[] = [], unreadAfter: number | null = null) =>
  buildItems({ messages, unsent: [], active, unreadAfter, me: 'alice' })
    .filter(item => item.kind !== 'day')
    .map(item => {
      if (item.kind === 'reply')
        return `${item.runId}:${item.rows.map(row => row.seq).join(',')}${item.last ? '!' : ''}`
      return item.kind === 'message' ? `${item.continuesAuthor ? '+' : ''}${item.row.seq}` : item.kind
    })

describe('buildItems', () => {
  it('makes one reply of the rows of one run', () => {
    expect(
      formatItems([
        row(1),
        agentRow(2, 'r', 'THINKING'),
        agentRow(3, 'r', 'TOOL_CALL'),
        agentRow(4, 'r', 'TOOL_RESPONSE'),
        agentRow(5, 'r'),
      ]),
    ).toEqual(['1', 'r:2,3,4,5!'])
  })

  it('puts a run that failed without an answer below its question', () => {
    expect(formatItems([row(1), row(2), agentRow(3, 'r', 'RUN_FAILED')])).toEqual(['1', '+2', 'r:3!'])
    expect(formatItems([row(1), agentRow(2, 'r', 'TOOL_RESPONSE')])).toEqual(['1', 'r:2!'])
  })

  it('keeps two concurrent replies apart', () => {
    expect(formatItems([row(1), agentRow(2, 'a'), agentRow(3, 'b'), agentRow(4, 'a'), agentRow(5, 'b')])).toEqual([
      '1',
      'a:2,4!',
      'b:3,5!',
    ])
  })

  it('continues below a message posted meanwhile, with the stamp only at the end', () => {
    expect(formatItems([agentRow(1, 'r'), row(2), agentRow(3, 'r')])).toEqual(['r:1', '2', 'r:3!'])
  })

  it('puts the end of a run with its reply', () => {
    expect(
      formatItems([agentRow(1, 'r'), row(2, { type: 'RUN_STOPPED', author_id: null, payload: { run_id: 'r' } })]),
    ).toEqual(['r:1,2!'])
  })

  it('shows a run without output at the end', () => {
    expect(formatItems([row(1)], [run('r')])).toEqual(['1', 'r:!'])
    expect(formatItems([agentRow(1, 'r')], [run('r')])).toEqual(['r:1!'])
  })

  it('groups the messages of one person within five minutes, except replies', () => {
    expect(formatItems([row(1), row(2), row(3, { reply_to: 'm1' }), row(9)])).toEqual(['1', '+2', '3', '9'])
  })

  it('marks the first message of another author after the last read one', () => {
    expect(formatItems([row(1), row(2), row(3, { author_id: 'bob' })], [], 1)).toEqual(['1', '+2', 'new', '3'])
    expect(formatItems([row(1), row(2, { author_id: 'bob' })], [], null)).toEqual(['1', '2'])
    expect(formatItems([row(1), row(2, { type: 'SPEC_SAVED', author_id: 'bob' }), agentRow(3, 'r')], [], 1)).toEqual([
      '1',
      'system',
      'new',
      'r:3!',
    ])
  })

  it('names the author again after fifteen messages', () => {
    const many = Array.from({ length: 20 }, (_, at) => row(at, { created_at: '2026-11-20T10:00:00' }))
    expect(formatItems(many).filter(items => !items.startsWith('+'))).toEqual(['0', '15'])
  })
})

describe('other answers', () => {
  const other = (seq: number, runId: string, more: MessageChange = {}) =>
    row(seq, { run_id: runId, author_id: 'robin', group_seq: 2, ...more })
  const question = row(1)
  const first = (more: MessageChange = {}) => row(2, { run_id: 'r1', author_id: 'robin', ...more })
  const formatAnswers = (
    messages: MessageRow[],
    { active = [], shown = '', count = 2 }: { active?: RunRow[]; shown?: string; count?: number } = {},
  ) =>
    buildItems({
      messages,
      otherAnswers: selectOtherAnswers({ log: messages }),
      placeAnswers: items =>
        placeAnswers(
          items,
          selectOtherAnswers({ log: messages }),
          active,
          new Map(shown ? [['r1', { runId: shown, count }]] : []),
        ),
      unsent: [],
      active,
      unreadAfter: null,
      me: 'alice',
    }).flatMap(item => {
      if (item.kind === 'day') return []
      if (item.kind !== 'reply') return item.kind === 'message' ? String(item.row.seq) : item.kind
      const seqs = item.rows.map(({ seq }) => seq).join(',')
      return `${item.runId}:${seqs} of ${item.answers.join(',')}${item.isUnused ? ' not in use' : ''}`
    })

  it('shows the answer in use in the place of the first one', () => {
    expect(formatAnswers([question, first({ is_unused: true }), row(3), other(4, 'r2')])).toEqual([
      '1',
      'r2:4 of r1,r2',
      '3',
    ])
    expect(formatAnswers([question, first(), row(3), other(4, 'r2', { is_unused: true })])).toEqual([
      '1',
      'r1:2 of r1,r2',
      '3',
    ])
  })

  it('shows the answer that the reader looks at until there is another number of answers', () => {
    const rows = [question, first({ is_unused: true }), row(3), other(4, 'r2')]
    expect(formatAnswers(rows, { shown: 'r1' })).toEqual(['1', 'r1:2 of r1,r2 not in use', '3'])
    expect(formatAnswers(rows, { shown: 'r1', count: 1 })).toEqual(['1', 'r2:4 of r1,r2', '3'])
  })

  it('shows an answer that is being written, also before its first row', () => {
    const active = [{ ...run('r3'), group_seq: 2 }]
    const rows = [question, first(), row(3), other(4, 'r2', { is_unused: true })]
    expect(formatAnswers(rows, { active })).toEqual(['1', 'r3: of r1,r2,r3 not in use', '3'])
  })

  it('hides all sections of the first answer while another one is shown', () => {
    const rows = [question, first({ is_unused: true }), row(3), row(4, { run_id: 'r1', author_id: 'robin' })]
    const unused = rows.map(one => (one.run_id === 'r1' ? { ...one, is_unused: true } : one))
    expect(formatAnswers([...unused, other(5, 'r2')] as MessageRow[])).toEqual(['1', 'r2:5 of r1,r2', '3'])
  })

  it('hides the files of an answer that is not in use', () => {
    const file = { type: 'FILE_MESSAGE', author_id: 'robin', payload: { name: 'a.md' } }
    const rows = [
      question,
      first({ is_unused: true }),
      row(3, { ...file, run_id: 'r1', is_unused: true }),
      other(4, 'r2'),
      row(5, { ...file, run_id: 'r2' }),
    ]
    expect(formatAnswers(rows)).toEqual(['1', 'r2:4 of r1,r2', '5'])
  })

  it('shows the end of an answer that has failed, and no other answer whose place is not loaded', () => {
    const failed = row(4, { type: 'RUN_FAILED', author_id: null, group_seq: 2, payload: { run_id: 'r2' } })
    expect(formatAnswers([question, first(), failed], { shown: 'r2' })).toEqual(['1', 'r2:4 of r1,r2 not in use'])
    expect(formatAnswers([row(3), other(4, 'r2')])).toEqual(['3'])
  })

  it('finds a message of an answer that another one replaces', () => {
    const messages = [question, first({ is_unused: true }), other(4, 'r2')]
    const items = buildItems({
      messages,
      otherAnswers: selectOtherAnswers({ log: messages }),
      placeAnswers: items => placeAnswers(items, selectOtherAnswers({ log: messages }), [], new Map()),
      unsent: [],
      active: [],
      unreadAfter: null,
      me: 'alice',
    })
    const reply = items.find(item => item.kind === 'reply')
    expect(reply && ['m2', 'm4', 'm1'].map(id => containsMessage(reply, id))).toEqual([true, true, false])
    expect(getLastSeq(reply)).toBe(2)
  })
})

/** Builds an id that was generated at this second. */
const buildIdAt = (second: number, n = 0) => {
  const ms = (Date.parse('2026-11-20T10:00:00') + second * 1_000).toString(16).padStart(12, '0')
  return `${ms.slice(0, 8)}-${ms.slice(8)}-7000-8000-${String(n).padStart(12, '0')}`
}
const at = (second: number) => ({
  created_at: new Date(Date.parse('2026-11-20T10:00:00') + second * 1_000).toISOString(),
})

describe('a reply while others post messages', () => {
  const question = row(1, at(0))
  const later = row(2, at(5))

  it('stays where it started, while streaming and when finished', () => {
    const streaming = new Map([['r', Date.parse('2026-11-20T10:00:00') + 1_000]])
    const items = buildItems({
      messages: [question, later],
      unsent: [],
      active: [run('r')],
      streamingSince: streaming,
      unreadAfter: null,
      me: 'alice',
    })
    expect(items.map(item => item.kind)).toEqual(['day', 'message', 'reply', 'message'])
    const done = { ...agentRow(3, 'r'), ...at(9), id: buildIdAt(1) }
    const thought = { ...agentRow(3, 'r', 'THINKING'), ...at(9) }
    expect(formatItems([question, later, done])).toEqual(['1', 'r:3!', '2'])
    expect(formatItems([question, later, thought, { ...done, seq: 4 }])).toEqual(['1', 'r:3,4!', '2'])
  })

  it('is split by a message that reached it between two steps', () => {
    const call = { ...agentRow(2, 'r', 'TOOL_CALL'), ...at(2) }
    const between = { ...row(3), ...at(4) }
    const result = { ...agentRow(4, 'r', 'TOOL_RESPONSE'), ...at(6) }
    const answer = { ...agentRow(5, 'r'), ...at(9), id: buildIdAt(2) }
    const messages = [question, call, between, result, answer]
    expect(formatItems(messages)).toEqual(['1', 'r:2,4', '3', 'r:5!'])
    const last = buildItems({ messages, unsent: [], active: [], unreadAfter: null, me: 'alice' }).at(-1)
    expect(last?.kind === 'reply' && last.earlierRows.map(row => row.seq)).toEqual([2, 4])
  })

  it('keeps two answers below their questions', () => {
    const first = { ...agentRow(3, 'a'), ...at(9), id: buildIdAt(1) }
    const second = { ...agentRow(4, 'b'), ...at(12), id: buildIdAt(10) }
    expect(formatItems([question, later, first, second])).toEqual(['1', 'a:3!', '2', 'b:4!'])
  })
})

describe('the question shown above a reply', () => {
  const answer = (seq: number, runId: string, answers: string, author = 'robin') =>
    row(seq, { run_id: runId, author_id: author, payload: { text: '', answers } })
  const listAnswers = (...messages: MessageRow[]) =>
    buildItems({ messages, unsent: [], active: [], unreadAfter: null, me: 'alice' }).flatMap(item =>
      item.kind === 'reply' ? [item.answeredId] : [],
    )

  it('is omitted when the reply is directly below it', () => {
    expect(listAnswers(row(1), answer(2, 'r', 'm1'))).toEqual([null])
    expect(listAnswers(row(1), answer(2, 'r', 'm1', 'wren'), answer(3, 's', 'm1'))).toEqual([null, null])
    expect(listAnswers(row(1), answer(2, 'r', 'm1'), answer(3, 's', 'm2', 'wren'))).toEqual([null, null])
  })

  it('is shown when another question was asked in between', () => {
    expect(listAnswers(row(1), row(2), answer(3, 'r', 'm1'), answer(4, 's', 'm2'))).toEqual(['m1', 'm2'])
    expect(listAnswers(row(1), row(2), answer(3, 'r', 'm2'))).toEqual([null])
  })

  it('is shown when it is far above or not loaded', () => {
    const lines = [2, 3, 4, 5, 6, 7, 8].map(seq => row(seq, { type: 'SPEC_SAVED', author_id: null }))
    expect(listAnswers(row(1), ...lines, answer(9, 'r', 'm1'))).toEqual(['m1'])
    expect(listAnswers(answer(9, 'r', 'm1'))).toEqual(['m1'])
  })

  it('is shown while the reply is pending', () => {
    const items = buildItems({
      messages: [row(1), row(2)],
      unsent: [],
      active: [{ ...run('r'), trigger_id: 'm1' }],
      unreadAfter: null,
      me: 'alice',
    })
    expect(items.at(-1)).toMatchObject({ kind: 'reply', answeredId: 'm1' })
  })
})
