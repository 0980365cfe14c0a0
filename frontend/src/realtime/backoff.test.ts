import { describe, expect, it } from 'vitest'
import { backoff } from './backoff'

describe('the delay before the next attempt', () => {
  it('is between half a second and a ceiling that doubles up to thirty seconds', () => {
    const ceilings = [0, 1, 2, 3, 4, 5, 6, 50].map(attempt => backoff(attempt, () => 1))
    expect(ceilings).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000])
    for (let attempt = 0; attempt < 50; attempt += 1) expect(backoff(attempt, () => 0)).toBe(500)
    expect(backoff(5, () => 0.5)).toBe(15_250)
  })

  it('is random, so that tabs do not reconnect at the same time', () => {
    const waits = Array.from({ length: 1_000 }, () => backoff(3))
    const perBucket = [0, 1, 2, 3].map(
      bucket => waits.filter(wait => Math.min(3, Math.floor((wait - 500) / 1_875)) === bucket).length,
    )
    for (const wait of waits) expect(wait >= 500 && wait <= 8_000).toBe(true)
    for (const count of perBucket) expect(count).toBeGreaterThan(100)
  })
})
