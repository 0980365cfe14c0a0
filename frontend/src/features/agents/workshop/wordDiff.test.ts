import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { wordParts } from './wordDiff'

const joined = (parts: readonly { text: string }[]) => parts.map(part => part.text).join('')
const unchanged = (parts: readonly { text: string; isChanged: boolean }[]) =>
  joined(parts.filter(part => !part.isChanged))

describe('the words that differ', () => {
  it('are marked within a text, and nothing else is', () => {
    const { before, after } = wordParts(
      'Quote prices in the currency of the customer.',
      'Quote prices in TWD of the customer.',
    )
    expect(joined(before.filter(part => part.isChanged))).toContain('currency')
    expect(joined(after.filter(part => part.isChanged))).toContain('TWD')
    expect(before[0]).toEqual({ at: 0, text: 'Quote prices in ', isChanged: false })
  })
  it('are the whole value when it is short', () => {
    expect(wordParts('0.3', '0.7').after).toEqual([{ at: 0, text: '0.7', isChanged: true }])
  })
  it('leave both texts as they are, and the rest is the same in both', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 25, maxLength: 60 })
    fc.assert(
      fc.property(text, text, (a, b) => {
        const { before, after } = wordParts(a, b)
        expect(joined(before)).toBe(a)
        expect(joined(after)).toBe(b)
        expect(unchanged(before)).toBe(unchanged(after))
      }),
    )
  })
})
