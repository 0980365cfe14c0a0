import { describe, expect, it } from 'vitest'
import type { MessageRow, RunRow } from '@/api'
import type { ChatState } from '@/realtime'
import { type MessageChange, messageRow } from '@/testing/rows'
import { findRowToCompare, groupAnswers } from './comparison'
import { getSideTimes, groupVoters } from './comparisonSides'
import { buildItems } from './timeline'

const row = (seq: number, more: MessageChange = {}) =>
  messageRow(seq, { author_id: 'robin', created_at: '2026-11-20T10:00:00', ...more })
const buildSide = (run_id: string, earlier: string[] = []) => ({ run_id, earlier, spec_id: 's', version: 1 })
const buildComparison = (seq: number, production = buildSide('p'), draft = buildSide('d')) =>
  row(seq, { type: 'COMPARISON', author_id: null, payload: { text: '?', production, draft, votes: [] } })
const buildAnswer = (seq: number, run_id: string, stamp: object = { compared: 'm1' }) =>
  row(seq, { run_id, payload: { stamp } })
const buildFailure = (seq: number, run_id: string) =>
  row(seq, { type: 'RUN_FAILED', author_id: null, payload: { run_id, target_id: 'robin' } })

const formatItems = (messages: MessageRow[], active: Partial<RunRow>[] = [], unreadAfter: number | null = null) =>
  buildItems({
    messages,
    unsent: [],
    active: active as RunRow[],
    unreadAfter,
    me: 'alice',
  })
    .filter(item => item.kind !== 'day')
    .map(item => {
      if (item.kind !== 'comparison') return item.kind
      const seqs = (rows: readonly MessageRow[]) => rows.map(row => row.seq).join(',')
      return `${seqs(item.production)}|${seqs(item.draft)}`
    })

describe('a comparison in the log', () => {
  it('contains the messages of both answers, which appear nowhere else', () => {
    const text = row(4, { author_id: 'bob' })
    expect(
      formatItems([
        buildComparison(1),
        buildAnswer(2, 'd'),
        buildAnswer(3, 'p'),
        text,
        buildAnswer(5, 'd'),
        buildFailure(6, 'p'),
      ]),
    ).toEqual(['3,6|2,5', 'message'])
  })

  it('contains the retried run instead of the failed one', () => {
    expect(
      formatItems([buildComparison(1, buildSide('again', ['p'])), buildFailure(2, 'p'), buildAnswer(3, 'again')]),
    ).toEqual(['3|'])
  })

  it('hides answers to a comparison that is not loaded', () => {
    expect(formatItems([buildAnswer(2, 'p'), row(3, { type: 'TOOL_RESPONSE', run_id: 'p' })])).toEqual([])
  })

  it('is below the "new" divider if one of its answers is new', () => {
    const rows = [row(1, { author_id: 'bob' }), buildComparison(2)]
    expect(formatItems(rows, [], 1)).toEqual(['message', '|'])
    expect(formatItems([...rows, buildAnswer(3, 'p')], [], 2)).toEqual(['message', 'new', '3|'])
    expect(formatItems([...rows, buildAnswer(3, 'p')], [], 3)).toEqual(['message', '3|'])
  })

  it('adds no separate item for a side with an active run', () => {
    const run = { id: 'p', agent_id: 'robin', created_at: '2026-11-20T10:00:00', stamp: { compared: 'm1' } }
    expect(formatItems([buildComparison(1)], [run as unknown as RunRow])).toEqual(['|'])
  })

  it('has no answers where nothing is compared', () => {
    expect(groupAnswers([row(1), row(2)]).size).toBe(0)
  })
})

it('lists the voters of each choice', () => {
  const votes = [
    { actor_id: 'alice', choice: 'draft' as const },
    { actor_id: 'bob', choice: 'draft' as const },
    { actor_id: 'carol', choice: 'equal' as const },
  ]
  expect(groupVoters(votes)).toEqual({ production: [], equal: ['carol'], draft: ['alice', 'bob'] })
})

describe('the time of a side', () => {
  const at = '2026-01-01T00:00:00Z'
  const rows = [{ ...row(2, {}), created_at: '2026-01-01T00:00:02Z' }]
  const run = { started_at: '2026-01-01T00:00:01Z', ended_at: '2026-01-01T00:00:03Z' } as RunRow

  it('is the same whether or not a tab has seen the run', () => {
    const finished = { isWorking: false, isRetried: false, rows, at }
    expect(getSideTimes({ ...finished, run })).toEqual(getSideTimes({ ...finished, run: null }))
    expect(getSideTimes({ ...finished, isRetried: true, run })).toEqual({ from: null, until: '2026-01-01T00:00:02Z' })
  })

  it('starts with the run while it is active', () => {
    expect(getSideTimes({ isWorking: true, isRetried: true, rows: [], at, run })).toEqual({
      from: run.started_at,
      until: null,
    })
  })
})

it('can be started at texts of people, and at the answers of an agent that has a draft', () => {
  const rows = [
    row(1, { author_id: 'bob' }),
    row(2, { run_id: 'r', type: 'THINKING' }),
    row(3, { run_id: 'r' }),
    row(4, { run_id: 's', author_id: 'scribe' }),
    row(5, { author_id: 'robin', payload: { greeting: true } }),
  ]
  const draft = { kind: 'draft', agent_id: 'robin', status: 'active', applied: {}, ended_at: null }
  const chat = {
    log: rows,
    rows: { message: new Map(rows.map(each => [each.id, each])), draft: new Map([['d', draft]]) },
  } as unknown as ChatState
  const find = (id: string) => findRowToCompare(chat, id, 'alice', author => author === 'bob')?.id
  expect(['m1', 'm2', 'm4', 'm5', 'other'].map(find)).toEqual(['m1', 'm3', undefined, undefined, undefined])
})
