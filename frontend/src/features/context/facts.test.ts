import { expect, it } from 'vitest'
import type { MessageRow } from '@/api'
import { messageRow } from '@/testing/rows'
import { findLimit, findNextContext, findSummarisedThrough } from './facts'

const reply = (context: object | null) =>
  ({ type: 'TEXT_MESSAGE', payload: { stamp: { context } } }) as never as MessageRow

it('the newest reply in a long chat says up to which message there is a summary', () => {
  expect(findSummarisedThrough([])).toBeNull()
  expect(findSummarisedThrough([reply({ summary_through: 5 }), reply(null)])).toBe(5)
  expect(findSummarisedThrough([reply({ summary_through: 5 }), reply({ turns: 3 })])).toBeNull()
})

it('the next answer reads what the last one read, and the later messages', () => {
  const log = (context: object) => [
    messageRow(5),
    messageRow(6),
    messageRow(7, { type: 'TOOL_CALL' }),
    messageRow(8, { payload: { text: '', stamp: { context } } }),
    messageRow(9),
  ]
  const summary = { strategy: 'summarise', summary_through: 5, turns: 2 }
  expect(findNextContext([messageRow(1)], 0)).toBeNull()
  expect(findNextContext(log(summary), 5)).toEqual({
    strategy: 'summarise',
    hasSummary: true,
    inFull: 3,
    limit: null,
  })
  expect(findNextContext(log({ ...summary, summary_through: 2 }), 5)?.inFull).toBe(4)
  expect(findNextContext(log({ strategy: 'retrieve', turns: 12 }), 0)).toEqual({
    strategy: 'retrieve',
    hasSummary: false,
    inFull: 14,
    limit: null,
  })
  expect(findNextContext(log({ ...summary, limit: 8_000, limit_by: 'agent' }), 5)?.limit).toEqual({
    tokens: 8_000,
    by: 'agent',
  })
})

it('the limit is the smallest one, with the present one of the workspace', () => {
  const ofModel = { tokens: 8_000, by: 'model' } as const
  expect(findLimit(null, null)).toBeNull()
  expect(findLimit(ofModel, null)).toEqual(ofModel)
  expect(findLimit(ofModel, 9_000)).toEqual(ofModel)
  expect(findLimit(ofModel, 7_000)).toEqual({ tokens: 7_000, by: 'workspace' })
  expect(findLimit({ tokens: 5_000, by: 'workspace' }, 6_000)).toEqual({ tokens: 6_000, by: 'workspace' })
  expect(findLimit({ tokens: 5_000, by: 'workspace' }, null)).toBeNull()
})
