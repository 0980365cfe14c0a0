/** Formats times, numbers and money for people: 24-hour times, in the display language. */
import { currentTag, t } from './language'
import { addCjkSpacing } from './spacing'

/** Cache of `Intl` formats: creating one costs more than formatting a page of times. */
const formats = new Map<string, unknown>()

function getCached<T>(kind: string, options: object, make: (tag: string) => T): T {
  const key = `${kind} ${currentTag()} ${JSON.stringify(options)}`
  const format = (formats.get(key) as T | undefined) ?? make(currentTag())
  formats.set(key, format)
  return format
}

const getDateFormat = (options: Intl.DateTimeFormatOptions) =>
  getCached('date', options, tag => new Intl.DateTimeFormat(tag, options))
/** Returns a format of numbers, which is made once for each language. */
export const getNumberFormat = (options: Intl.NumberFormatOptions = {}) =>
  getCached('number', options, tag => new Intl.NumberFormat(tag, options))
const getRelativeFormat = (options: Intl.RelativeTimeFormatOptions) =>
  getCached('relative', options, tag => new Intl.RelativeTimeFormat(tag, options))

export const formatTime = (iso: string) =>
  getDateFormat({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(new Date(iso))
/** Formats a time with seconds, for times within the next minute. */
export const formatTimeWithSeconds = (iso: string) =>
  getDateFormat({ hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' }).format(new Date(iso))
export const formatFullTime = (iso: string) =>
  getDateFormat({ dateStyle: 'full', timeStyle: 'medium', hourCycle: 'h23' }).format(new Date(iso))
/** Formats a day such as `2026-11-30`, whatever the time zone of the reader is. */
export const formatCalendarDay = (day: string) =>
  addSpacing(getDateFormat({ day: 'numeric', month: 'short', timeZone: 'UTC' }).format(new Date(`${day}T00:00:00Z`)))
/** Formats day and month, with the year if it is not the current one. */
export function formatShortDate(iso: string, now = new Date()): string {
  const day = new Date(iso)
  const year = day.getFullYear() === now.getFullYear() ? {} : { year: 'numeric' as const }
  return addSpacing(getDateFormat({ day: 'numeric', month: 'short', ...year }).format(day))
}

const addSpacing = (date: string) => addCjkSpacing(date, currentTag())

/** Formats a moment with its weekday, in the time zone of the reader: "Mon 23 Nov, 08:00". */
export const formatDateTime = (iso: string) =>
  addSpacing(
    getDateFormat({
      weekday: 'short',
      day: 'numeric',
      month: 'short',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    }).format(new Date(iso)),
  )

/** Returns the IANA name of the reader's time zone. */
export const getOwnTimeZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone

/** Returns the name of a day of the week, 0 for Sunday (such as 4 January 2026). */
export const getWeekdayName = (day: number) =>
  getDateFormat({ weekday: 'long', timeZone: 'UTC' }).format(new Date(Date.UTC(2026, 0, 4 + day)))

/** Returns whether a time is in the future. */
export const isFuture = (iso: string | null | undefined, now = Date.now()) =>
  Boolean(iso) && Date.parse(iso ?? '') > now

/** Returns a key that is the same for all times of one local day. */
export const getDayKey = (iso: string) => new Date(iso).toDateString()

/** Returns how many midnights are between two times. */
function countDays(from: Date, to: Date): number {
  const getMidnight = (date: Date) => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime()
  return Math.round((getMidnight(to) - getMidnight(from)) / 86_400_000)
}

/** Formats a day: "Today", "Yesterday", or the full date. */
export function formatDay(iso: string, now = new Date()): string {
  const day = new Date(iso)
  const daysAgo = countDays(day, now)
  if (daysAgo === 0 || daysAgo === 1) return capitalize(getRelativeFormat({ numeric: 'auto' }).format(-daysAgo, 'day'))
  const year = day.getFullYear() === now.getFullYear() ? {} : { year: 'numeric' as const }
  return addSpacing(getDateFormat({ weekday: 'long', day: 'numeric', month: 'long', ...year }).format(day))
}

/** Formats a time for a list in a few characters: of today "09:20", of the six days before "Mon", of earlier ones "23 Nov". */
export function formatShortTime(iso: string, now = new Date()): string {
  const daysAgo = countDays(new Date(iso), now)
  if (daysAgo <= 0) return formatTime(iso)
  return daysAgo < 7 ? getDateFormat({ weekday: 'short' }).format(new Date(iso)) : formatShortDate(iso, now)
}

/** Formats how long ago a time was: "just now", "5 min. ago", "yesterday"; after 30 days, its date. */
export function formatRelative(iso: string, now = Date.now()): string {
  const seconds = Math.max(0, now - Date.parse(iso)) / 1_000
  const units = [
    ['day', 86_400],
    ['hour', 3_600],
    ['minute', 60],
  ] as const
  const [unit, size] = units.find(([, unitSeconds]) => seconds >= unitSeconds) ?? ['second', 60]
  if (unit === 'second') return t('justNow')
  if (unit === 'day' && seconds >= 30 * 86_400) return formatShortDate(iso)
  const relative = getRelativeFormat({ numeric: 'auto', style: 'short' })
  const count = unit === 'day' ? countDays(new Date(iso), new Date(now)) : Math.floor(seconds / size)
  return addSpacing(relative.format(-count, unit))
}

const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

export const isWithinMinutes = (a: string, b: string, minutes: number) =>
  Math.abs(Date.parse(a) - Date.parse(b)) < minutes * 60_000

export function formatNumber(value: number): string {
  return getNumberFormat().format(value)
}

/** Formats millionths of a dollar as money: below one dollar with three decimals, below one cent with two significant digits. */
export function formatCurrency(micro: number): string {
  const dollars = micro / 1_000_000
  const digits = dollars === 0 ? 0 : dollars < 1 ? 3 : 2
  return getNumberFormat({
    style: 'currency',
    currency: 'USD',
    minimumFractionDigits: digits,
    maximumFractionDigits: dollars > 0 && dollars < 0.01 ? Math.min(6, 1 - Math.floor(Math.log10(dollars))) : digits,
  }).format(dollars)
}

/** Formats a number of seconds, at least 0.1. */
export const formatSeconds = (value: number) =>
  getNumberFormat({ maximumFractionDigits: value < 10 ? 1 : 0 }).format(Math.max(0.1, value))
