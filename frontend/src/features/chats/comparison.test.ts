import { describe, expect, it } from 'vitest'
import type { MessageRow, RunRow } from '@/api'
import { type MessageChange, messageRow } from '@/testing/rows'
import { answersIn, timesOf, usedBy, votersOf } from './comparison'
import { itemsOf } from './timeline'

const row = (seq: number, more: MessageChange = {}) =>
  messageRow(seq, { author_id: 'robin', created_at: '2026-11-20T10:00:00', ...more })
const side = (run_id: string, earlier: string[] = []) => ({ run_id, earlier, spec_id: 's', version: 1 })
const asked = (seq: number, production = side('p'), draft = side('d')) =>
  row(seq, { type: 'COMPARISON', author_id: null, payload: { text: '?', production, draft, votes: [] } })
const answer = (seq: number, run_id: string, stamp: object = { compared: 'm1' }) =>
  row(seq, { run_id, payload: { stamp } })
const ended = (seq: number, run_id: string) =>
  row(seq, { type: 'RUN_FAILED', author_id: null, payload: { run_id, target_id: 'robin' } })

const shape = (messages: MessageRow[], active: Partial<RunRow>[] = []) =>
  itemsOf({
    messages,
    unsent: [],
    active: active as RunRow[],
    newsAfter: null,
    me: 'alice',
  })
    .filter(item => item.kind !== 'day')
    .map(item => {
      if (item.kind !== 'comparison') return item.kind
      const seqs = (rows: readonly MessageRow[]) => rows.map(each => each.seq).join(',')
      return `${seqs(item.production)}|${seqs(item.draft)}`
    })

describe('a comparison in the log', () => {
  it('gathers both answers, wherever they stand, and they stand nowhere else', () => {
    const text = row(4, { author_id: 'bob' })
    expect(shape([asked(1), answer(2, 'd'), answer(3, 'p'), text, answer(5, 'd'), ended(6, 'p')])).toEqual([
      '3,6|2,5',
      'text',
    ])
  })

  it('shows the run that was asked again, and not the one that failed', () => {
    expect(shape([asked(1, side('again', ['p'])), ended(2, 'p'), answer(3, 'again')])).toEqual(['3|'])
  })

  it('hides what answers a comparison that is not here', () => {
    expect(shape([answer(2, 'p'), row(3, { type: 'TOOL_RESPONSE', run_id: 'p' })])).toEqual([])
  })

  it('shows no second line for a side at work', () => {
    const run = { id: 'p', agent_id: 'robin', created_at: '2026-11-20T10:00:00', stamp: { compared: 'm1' } }
    expect(shape([asked(1)], [run as unknown as RunRow])).toEqual(['|'])
  })

  it('is no news for who asked', () => {
    const question = asked(3)
    question.payload = { ...question.payload, actor_id: 'alice' }
    const kinds = (me: string) =>
      itemsOf({ messages: [question], unsent: [], active: [], newsAfter: 1, me }).map(item => item.kind)
    expect(kinds('alice')).toEqual(['day', 'comparison'])
    expect(kinds('bob')).toEqual(['day', 'new', 'comparison'])
  })

  it('costs nothing where nothing is compared', () => {
    expect(answersIn([row(1), row(2)]).size).toBe(0)
  })
})

describe('what an answer took', () => {
  const stamp = { input_tokens: 10, output_tokens: 5, cost_micro: 100 }
  const call = (seq: number) => row(seq, { type: 'TOOL_CALL', run_id: 'p', payload: { stamp } })
  it('is counted once a step, however many rows a step has', () => {
    const rows = [answer(1, 'p', stamp), call(2), call(3), row(4, { type: 'TOOL_RESPONSE' }), answer(5, 'p', stamp)]
    expect(usedBy(rows)).toEqual({ tokens: 30, cost: 200, tools: 2 })
  })
  it('has no price when nobody knows it', () => {
    expect(usedBy([answer(1, 'p', { input_tokens: 1, output_tokens: 1 })]).cost).toBeNull()
  })
})

it('lists the voters of each choice', () => {
  const votes = [
    { actor_id: 'alice', choice: 'draft' as const },
    { actor_id: 'bob', choice: 'draft' as const },
    { actor_id: 'carol', choice: 'equal' as const },
  ]
  expect(votersOf(votes)).toEqual({ production: [], equal: ['carol'], draft: ['alice', 'bob'] })
})

describe('the time that a side took', () => {
  const at = '2026-01-01T00:00:00Z'
  const rows = [{ ...row(2, {}), created_at: '2026-01-01T00:00:02Z' }]
  const run = { started_at: '2026-01-01T00:00:01Z', ended_at: '2026-01-01T00:00:03Z' } as RunRow

  it('is the same for a tab that saw the run and for one that did not', () => {
    const over = { isWorking: false, isAskedAgain: false, rows, at }
    expect(timesOf({ ...over, run })).toEqual(timesOf({ ...over, run: null }))
    expect(timesOf({ ...over, isAskedAgain: true, run })).toEqual({ from: null, until: '2026-01-01T00:00:02Z' })
  })

  it('begins with the run while that works', () => {
    expect(timesOf({ isWorking: true, isAskedAgain: true, rows: [], at, run })).toEqual({
      from: run.started_at,
      until: null,
    })
  })
})
