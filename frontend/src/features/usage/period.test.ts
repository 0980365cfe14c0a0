import { describe, expect, it } from 'vitest'
import { parseDollars } from './budgets'
import { findDayOfLimit, getPeriod, getToday, isWholeMonth, listDays } from './period'

describe('periods', () => {
  it('are whole months, also at the end of a year', () => {
    expect(getPeriod('month', '2028-02-10')).toEqual({ startsOn: '2028-02-01', endsOn: '2028-02-29' })
    expect(getPeriod('month', '2026-12-31')).toEqual({ startsOn: '2026-12-01', endsOn: '2026-12-31' })
    expect(getPeriod('lastMonth', '2027-01-01')).toEqual({ startsOn: '2026-12-01', endsOn: '2026-12-31' })
    expect(getPeriod('week', '2026-03-02')).toEqual({ startsOn: '2026-02-24', endsOn: '2026-03-02' })
  })
  it('are those of the time zone of the workspace', () => {
    const at = new Date('2026-11-30T16:00:00Z')
    expect([getToday('Asia/Taipei', at), getToday('UTC', at)]).toEqual(['2026-12-01', '2026-11-30'])
  })
  it('are whole months or not', () => {
    expect(isWholeMonth('2028-02-01', '2028-02-29')).toBe(true)
    expect(isWholeMonth('2027-02-01', '2027-02-27')).toBe(false)
    expect(isWholeMonth('2026-11-24', '2026-11-30')).toBe(false)
  })
  it('have a day on which a budget is used up at this pace', () => {
    expect(findDayOfLimit('2026-11-01', '2026-11-30', 164_940_000, 150_000_000)).toBe('2026-11-28')
    expect(findDayOfLimit('2026-11-01', '2026-11-30', 150_000_000, 150_000_000)).toBe(null)
    expect(findDayOfLimit('2026-11-01', '2026-11-30', 150_000_001, 150_000_000)).toBe('2026-11-30')
    expect(findDayOfLimit('2026-11-01', '2026-11-30', 5, 0)).toBe('2026-11-01')
  })
  it('have every day until today', () => {
    expect(listDays({ startsOn: '2026-11-29', endsOn: '2026-12-31' }, '2026-12-01')).toEqual([
      '2026-11-29',
      '2026-11-30',
      '2026-12-01',
    ])
  })
})

describe('an amount', () => {
  it.each([
    ['$12.5', 12_500_000],
    ['0', 0],
    ['', null],
    ['-1', null],
    ['abc', null],
    ['$', null],
    ['1e3', null],
    [' $ 3. ', 3_000_000],
  ])('of %s', (text, micro) => expect(parseDollars(text)).toBe(micro))
})
