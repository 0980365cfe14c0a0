import { expect, it } from 'vitest'
import { splitAtMarks } from './marks'

it('splits a text at its marks', () => {
  const marks = [
    { start: 4, end: 9 },
    { start: 14, end: 17 },
  ]
  expect(splitAtMarks('the price of tea', marks)).toEqual([
    { text: 'the ', isMarked: false },
    { text: 'price', isMarked: true },
    { text: ' of t', isMarked: false },
    { text: 'ea', isMarked: true },
  ])
})

it('counts characters beyond 16 bits as one', () => {
  expect(splitAtMarks('👍🏽🎉 tea', [{ start: 4, end: 7 }])).toEqual([
    { text: '👍🏽🎉 ', isMarked: false },
    { text: 'tea', isMarked: true },
  ])
  expect(splitAtMarks('tea', [])).toEqual([{ text: 'tea', isMarked: false }])
})
