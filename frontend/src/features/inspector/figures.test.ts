import { describe, expect, it } from 'vitest'
import { computeBar } from './figures'

const START = Date.parse('2026-11-23T10:00:00Z')

describe('the bar of a part', () => {
  it('begins and ends where the part did', () => {
    expect(computeBar('2026-11-23T10:00:05Z', 2, START, 10_000)).toEqual({ left: 50, width: 20 })
  })

  it('stays inside the time of the run', () => {
    expect(computeBar('2026-11-23T09:59:59Z', 1, START, 10_000)).toEqual({ left: 0, width: 10 })
    expect(computeBar('2026-11-23T10:00:09Z', 5, START, 10_000)).toEqual({ left: 90, width: 10 })
    expect(computeBar('2026-11-23T10:00:09Z', null, START, 10_000)).toEqual({ left: 90, width: 0 })
  })
})
