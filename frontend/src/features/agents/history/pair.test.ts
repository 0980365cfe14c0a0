import { describe, expect, it } from 'vitest'
import { historySearchOf, pairOf, restorable } from './pair'

describe('which two versions are compared', () => {
  it('is production beside the version before it, at first', () => {
    expect(pairOf({}, 6)).toEqual({ a: 5, b: 6 })
    expect(pairOf({}, 1)).toEqual({ a: 0, b: 1 })
  })
  it('is a version beside the one before it, when one is chosen', () => {
    expect(pairOf({ b: 3 }, 6)).toEqual({ a: 2, b: 3 })
    expect(pairOf({ a: 1, b: 3 }, 6)).toEqual({ a: 1, b: 3 })
    expect(pairOf({ a: 0, b: 3 }, 6)).toEqual({ a: 0, b: 3 })
  })
  it('takes nothing odd from an address', () => {
    expect(historySearchOf({ a: -1, b: 0, chat: 5, x: 1 })).toEqual({})
    expect(historySearchOf({ a: 1.5, b: '2' })).toEqual({})
    expect(historySearchOf({ a: 0, b: 2, chat: 'c' })).toEqual({ a: 0, b: 2, chat: 'c' })
  })
})

describe('what can be restored', () => {
  it('is the one of the two that is not production', () => {
    expect(restorable({ a: 2, b: 3 }, 6)).toBe(3)
    expect(restorable({ a: 5, b: 6 }, 6)).toBe(5)
    expect(restorable({ a: 6, b: 5 }, 6)).toBe(5)
  })
  it('is nothing when there is only production', () => {
    expect(restorable({ a: 0, b: 1 }, 1)).toBeNull()
    expect(restorable({ a: 6, b: 6 }, 6)).toBeNull()
  })
})
