import { expect, it } from 'vitest'
import type { MessageRow } from '@/api'
import { findSummarisedThrough, listCited } from './facts'

const found = [
  { seq: 7, message_id: 'seven' },
  { seq: 31, message_id: 'thirty-one' },
]

it('the cited messages are those that were found and named, each once', () => {
  expect(listCited('It is 4711 [#31], as [#7] says. [#31] [#8] [#x] #7', found).map(one => one.message_id)).toEqual([
    'thirty-one',
    'seven',
  ])
})

const reply = (context: object | null) =>
  ({ type: 'TEXT_MESSAGE', payload: { stamp: { context } } }) as never as MessageRow

it('the newest reply in a long chat says up to which message there is a summary', () => {
  expect(findSummarisedThrough([])).toBeNull()
  expect(findSummarisedThrough([reply({ summary_through: 5 }), reply(null)])).toBe(5)
  expect(findSummarisedThrough([reply({ summary_through: 5 }), reply({ turns: 3 })])).toBeNull()
})
