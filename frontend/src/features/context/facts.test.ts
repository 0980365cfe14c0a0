import { expect, it } from 'vitest'
import type { MessageRow } from '@/api'
import { findSummarisedThrough } from './facts'

const reply = (context: object | null) =>
  ({ type: 'TEXT_MESSAGE', payload: { stamp: { context } } }) as never as MessageRow

it('the newest reply in a long chat says up to which message there is a summary', () => {
  expect(findSummarisedThrough([])).toBeNull()
  expect(findSummarisedThrough([reply({ summary_through: 5 }), reply(null)])).toBe(5)
  expect(findSummarisedThrough([reply({ summary_through: 5 }), reply({ turns: 3 })])).toBeNull()
})
