import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { diffWords } from './wordDiff'

const join = (parts: readonly { text: string }[]) => parts.map(part => part.text).join('')
const joinUnchanged = (parts: readonly { text: string; isChanged: boolean }[]) =>
  join(parts.filter(part => !part.isChanged))

describe('the words that differ', () => {
  it('are the only marked words of a text', () => {
    const { before, after } = diffWords(
      'Quote prices in the currency of the customer.',
      'Quote prices in TWD of the customer.',
    )
    expect(join(before.filter(part => part.isChanged))).toContain('currency')
    expect(join(after.filter(part => part.isChanged))).toContain('TWD')
    expect(before[0]).toEqual({ at: 0, text: 'Quote prices in ', isChanged: false })
  })
  it('are the whole value if it is short', () => {
    expect(diffWords('0.3', '0.7').after).toEqual([{ at: 0, text: '0.7', isChanged: true }])
  })
  it('and the rest join to the original texts, and the rest is the same in both', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 25, maxLength: 60 })
    fc.assert(
      fc.property(text, text, (a, b) => {
        const { before, after } = diffWords(a, b)
        expect(join(before)).toBe(a)
        expect(join(after)).toBe(b)
        expect(joinUnchanged(before)).toBe(joinUnchanged(after))
      }),
    )
  })
})
