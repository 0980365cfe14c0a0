import { expect, it } from 'vitest'
import type { Texts } from '@/lib/language'
import { formatDates } from './dates'

it('a summary of one day has one date', () => {
  const t = ((key: string, { from, to }: { from: string; to: string }) => `${key} ${from} ${to}`) as Texts['t']
  const year = new Date().getFullYear()
  const at = (day: number, hour: number) => new Date(year, 2, day, hour).toISOString()
  expect(formatDates(t, at(4, 8), at(4, 20))).toBe('Mar 4')
  expect(formatDates(t, at(4, 8), at(5, 7))).toBe('context.dates Mar 4 Mar 5')
})
