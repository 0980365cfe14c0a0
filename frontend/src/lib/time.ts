/** Times as people read them: 24 h, in the screen's language. */
import { currentTag, t } from './language'
import { addCjkSpacing } from './spacing'

/** Making one costs more than formatting a page of times, so each is made once. */
const formats = new Map<string, unknown>()

function cached<T>(kind: string, options: object, make: (tag: string) => T): T {
  const key = `${kind} ${currentTag()} ${JSON.stringify(options)}`
  const known = (formats.get(key) as T | undefined) ?? make(currentTag())
  formats.set(key, known)
  return known
}

const format = (options: Intl.DateTimeFormatOptions) =>
  cached('date', options, tag => new Intl.DateTimeFormat(tag, options))
const numberFormat = (options: Intl.NumberFormatOptions = {}) =>
  cached('number', options, tag => new Intl.NumberFormat(tag, options))
const relativeFormat = (options: Intl.RelativeTimeFormatOptions) =>
  cached('relative', options, tag => new Intl.RelativeTimeFormat(tag, options))

export const formatTime = (iso: string) =>
  format({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(new Date(iso))
/** With seconds: for what comes within the minute. */
export const formatTimeWithSeconds = (iso: string) =>
  format({ hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' }).format(new Date(iso))
export const formatFullTime = (iso: string) =>
  format({ dateStyle: 'full', timeStyle: 'medium', hourCycle: 'h23' }).format(new Date(iso))
/** Day and month; and the year when it is another one. */
export function formatShortDate(iso: string, now = new Date()): string {
  const day = new Date(iso)
  const year = day.getFullYear() === now.getFullYear() ? {} : { year: 'numeric' as const }
  return readable(format({ day: 'numeric', month: 'short', ...year }).format(day))
}

const readable = (date: string) => addCjkSpacing(date, currentTag())

/** Whether a time is in the future. */
export const isFuture = (iso: string | null | undefined, now = Date.now()) =>
  Boolean(iso) && Date.parse(iso ?? '') > now

/** A key that is the same for all moments of one local day. */
export const dayKey = (iso: string) => new Date(iso).toDateString()

/** "Today", "Yesterday", or the day in full. */
export function formatDay(iso: string, now = new Date()): string {
  const day = new Date(iso)
  const midnight = (date: Date) => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime()
  const formatRelative = Math.round((midnight(now) - midnight(day)) / 86_400_000)
  if (formatRelative === 0 || formatRelative === 1)
    return capital(relativeFormat({ numeric: 'auto' }).format(-formatRelative, 'day'))
  const year = day.getFullYear() === now.getFullYear() ? {} : { year: 'numeric' as const }
  return readable(format({ weekday: 'long', day: 'numeric', month: 'long', ...year }).format(day))
}

/** How long ago, in the largest unit that fits: "just now", "5 min. ago", "yesterday". */
export function formatRelative(iso: string, now = Date.now()): string {
  const past = Math.max(0, now - Date.parse(iso)) / 1_000
  const units = [
    ['day', 86_400],
    ['hour', 3_600],
    ['minute', 60],
  ] as const
  const [unit, size] = units.find(([, each]) => past >= each) ?? ['second', 60]
  if (unit === 'second') return t('justNow')
  if (unit === 'day' && past >= 30 * 86_400) return formatShortDate(iso)
  const relative = relativeFormat({ numeric: 'auto', style: 'short' })
  return readable(relative.format(-Math.floor(past / size), unit))
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

export const isSameMoment = (a: string, b: string, minutes: number) =>
  Math.abs(Date.parse(a) - Date.parse(b)) < minutes * 60_000

export function formatNumber(value: number): string {
  return numberFormat().format(value)
}

/** Millionths of a dollar as money: three decimals under one dollar. */
export function formatCurrency(micro: number): string {
  const dollars = micro / 1_000_000
  const digits = dollars < 1 ? 3 : 2
  return numberFormat({
    style: 'currency',
    currency: 'USD',
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  }).format(dollars)
}

/** Seconds in short; what took less than a tenth took a tenth. */
export const formatSeconds = (value: number) =>
  numberFormat({ maximumFractionDigits: value < 10 ? 1 : 0 }).format(Math.max(0.1, value))
