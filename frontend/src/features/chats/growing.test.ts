import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { MessageRow } from '@/api'
import { type MessageChange, messageRow } from '@/testing/rows'
import { GrowingItems, type Item } from './timeline'

const row = (seq: number, more: MessageChange) =>
  messageRow(seq, {
    payload: { text: `${seq}` },
    created_at: new Date(Date.UTC(2026, 10, 20, 23, 50, seq * 20)).toISOString(),
    ...more,
  })

const kind = fc.record({
  what: fc.constantFrom('text', 'text', 'reply', 'reply', 'call', 'joined', 'comparison', 'compared', 'end'),
  findActor: fc.constantFrom('alice', 'bob'),
  run: fc.constantFrom('r1', 'r2', 'r3'),
})

type Kind = typeof kind extends fc.Arbitrary<infer T> ? T : never

function buildRow({ what, findActor, run }: Kind, seq: number): MessageRow {
  switch (what) {
    case 'reply':
      return row(seq, { author_id: 'robin', run_id: run })
    case 'call':
      return row(seq, { author_id: 'robin', run_id: run, type: 'TOOL_RESPONSE', payload: { tool_call_id: 'x' } })
    case 'joined':
      return row(seq, {
        type: 'MEMBER_JOINED',
        author_id: null,
        payload: { actor_id: findActor, target_id: `p${seq}` },
      })
    case 'comparison': {
      const [production, draft] = [`p ${run}`, `d ${run}`].map(run_id => ({ run_id, earlier: [] }))
      return row(seq, { type: 'COMPARISON', payload: { text: '?', actor_id: findActor, production, draft, votes: [] } })
    }
    case 'compared':
      return row(seq, { author_id: 'robin', run_id: `p ${run}`, payload: { text: '', stamp: { compared: true } } })
    case 'end':
      return row(seq, { type: 'RUN_FAILED', author_id: null, payload: { run_id: run, target_id: 'robin' } })
    default:
      return row(seq, { author_id: findActor })
  }
}

const input = (messages: readonly MessageRow[]) => ({ messages, unsent: [], active: [], unreadAfter: 4, me: 'alice' })
const buildAll = (messages: readonly MessageRow[]) => new GrowingItems(Number.POSITIVE_INFINITY).update(input(messages))

describe('a growing log', () => {
  it('has the same items as a log that is built at once', () => {
    fc.assert(
      fc.property(fc.array(kind, { maxLength: 40 }), fc.nat(5), (kinds, tail) => {
        const growing = new GrowingItems(tail)
        const rows = kinds.map((kind, index) => buildRow(kind, index + 1))
        for (let length = 0; length <= rows.length; length += 1) {
          const messages = rows.slice(0, length)
          expect(growing.update(input(messages))).toEqual(buildAll(messages))
        }
      }),
      { numRuns: 300 },
    )
  })

  it('has the same items when an old row changes', () => {
    const rows = Array.from({ length: 60 }, (_, index) => row(index + 1, {}))
    const growing = new GrowingItems(5)
    growing.update(input(rows))
    const changed = rows.with(3, row(4, { version: 99, edited_at: '2026-11-20T11:00:00Z' }))
    expect(growing.update(input(changed))).toEqual(buildAll(changed))
  })

  const getSeq = (item: Item) => item.kind === 'message' && item.row.seq

  it('keeps unchanged items, and returns the same list when nothing has changed', () => {
    const rows = Array.from({ length: 50 }, (_, index) =>
      row(index + 1, index % 3 ? {} : { run_id: 'r', author_id: 'robin' }),
    )
    const growing = new GrowingItems(5)
    const before = growing.update(input(rows))
    expect(growing.update(input([...rows]))).toBe(before)
    const after = growing.update(input([...rows, row(51, { author_id: 'bob' })]))
    expect(after.filter(item => !before.includes(item)).map(getSeq)).toEqual([51])
  })
})
