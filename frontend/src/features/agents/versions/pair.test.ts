import { describe, expect, it } from 'vitest'
import { findRestorable, getPair, parseVersionsSearch } from './pair'

describe('the pair of versions to compare', () => {
  it('is production and the version before it by default', () => {
    expect(getPair({}, 6)).toEqual({ a: 5, b: 6 })
    expect(getPair({}, 1)).toEqual({ a: 0, b: 1 })
  })
  it('is the chosen version and the one before it', () => {
    expect(getPair({ b: 3 }, 6)).toEqual({ a: 2, b: 3 })
    expect(getPair({ a: 1, b: 3 }, 6)).toEqual({ a: 1, b: 3 })
    expect(getPair({ a: 0, b: 3 }, 6)).toEqual({ a: 0, b: 3 })
  })
  it('ignores invalid values in the URL', () => {
    expect(parseVersionsSearch({ a: -1, b: 0, chat: 5, x: 1 })).toEqual({})
    expect(parseVersionsSearch({ a: 1.5, b: '2' })).toEqual({})
    expect(parseVersionsSearch({ a: 0, b: 2, chat: 'c' })).toEqual({ a: 0, b: 2, chat: 'c' })
  })
})

describe('the version that can be restored', () => {
  it('is the version of the pair that is not production', () => {
    expect(findRestorable({ a: 2, b: 3 }, 6)).toBe(3)
    expect(findRestorable({ a: 5, b: 6 }, 6)).toBe(5)
    expect(findRestorable({ a: 6, b: 5 }, 6)).toBe(5)
  })
  it('is null when there is only production', () => {
    expect(findRestorable({ a: 0, b: 1 }, 1)).toBeNull()
    expect(findRestorable({ a: 6, b: 6 }, 6)).toBeNull()
  })
})
