import { afterEach, expect, it, vi } from 'vitest'
import { formatCurrency, formatFullTime, formatShortTime, formatTime } from './time'

afterEach(() => {
  vi.unstubAllGlobals()
})

it('creates each format once for many times', () => {
  let created = 0
  class CountedFormat extends Intl.DateTimeFormat {
    constructor(...args: ConstructorParameters<typeof Intl.DateTimeFormat>) {
      super(...args)
      created += 1
    }
  }
  vi.stubGlobal('Intl', Object.assign(Object.create(Intl), { DateTimeFormat: CountedFormat }))
  for (let minute = 10; minute < 60; minute += 1) {
    const at = `2026-11-20T10:${minute}:00`
    expect(formatTime(at)).toBe(`10:${minute}`)
    expect(formatFullTime(at)).toContain(`${minute}:00`)
  }
  expect(created).toBe(2)
})

it.each([
  [0, '$0'],
  [1, '$0.000001'],
  [123, '$0.00012'],
  [1_000, '$0.001'],
  [4_560, '$0.0046'],
  [45_600, '$0.046'],
  [999_000, '$0.999'],
  [5_000_000, '$5.00'],
])('shows at least two digits of %i millionths of a dollar', (micro, text) => {
  expect(formatCurrency(micro)).toBe(text)
})

it.each([
  ['2026-11-20T00:05:00', '00:05'],
  ['2026-11-19T23:55:00', 'Thu'],
  ['2026-11-14T12:00:00', 'Sat'],
  ['2026-11-13T12:00:00', 'Nov 13'],
  ['2025-11-20T12:00:00', 'Nov 20, 2025'],
])('formats %s for a list as %s on 20 November', (iso, text) => {
  expect(formatShortTime(iso, new Date('2026-11-20T10:00:00'))).toBe(text)
})
