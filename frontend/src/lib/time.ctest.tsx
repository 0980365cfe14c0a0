import { describe, expect, it } from 'vitest'
import { formatNumber, formatRelative } from './time'

describe('formatted numbers and times', () => {
  it('include zero', () => {
    expect([formatNumber(0), formatNumber(1), formatNumber(12_345)]).toEqual(['0', '1', '12,345'])
  })

  it('show times within the last minute as just now', () => {
    const now = Date.parse('2026-11-22T12:00:00Z')
    const ago = (seconds: number) => formatRelative(new Date(now - seconds * 1_000).toISOString(), now)
    expect([ago(0), ago(59), ago(60)]).toEqual(['just now', 'just now', '1 min. ago'])
  })

  it('count days by midnights', () => {
    const now = new Date(2026, 10, 25, 10).getTime()
    const format = (day: number, hour: number) => formatRelative(new Date(2026, 10, day, hour).toISOString(), now)
    expect([format(24, 9), format(23, 11), format(23, 9)]).toEqual(['yesterday', '2 days ago', '2 days ago'])
  })
})
