import type { Texts } from '@/lib/language'
import { formatShortDate } from '@/lib/time'

/** Formats the dates from one moment to another; one date if they are on the same day. */
export function formatDates(t: Texts['t'], fromAt: string, toAt: string): string {
  const [from, to] = [formatShortDate(fromAt), formatShortDate(toAt)]
  return from === to ? from : t('context.dates', { from, to })
}
