import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { splitBlocks } from './blocks'

describe('splitBlocks', () => {
  it('cuts at empty lines', () => {
    expect(splitBlocks('one\n\ntwo\nmore\n\n\nthree')).toEqual(['one', 'two\nmore', 'three'])
  })

  it('keeps a fence whole, also while it is still open', () => {
    expect(splitBlocks('a\n\n```py\nx\n\ny\n```\n\nb')).toEqual(['a', '```py\nx\n\ny\n```', 'b'])
    expect(splitBlocks('a\n\n```py\nx\n\ny')).toEqual(['a', '```py\nx\n\ny'])
  })

  it('keeps a list with loose items whole', () => {
    expect(splitBlocks('- a\n\n- b\n\n  more\n\nend')).toEqual(['- a\n\n- b\n\n  more', 'end'])
  })

  it('loses no line of text', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', ' ', '\n', '`', '-', '1', '.') }), text => {
        const words = (value: string) => value.replace(/\s+/g, '')
        expect(words(splitBlocks(text).join('\n\n'))).toBe(words(text))
      }),
    )
  })
})
