/** The words of a cron expression, and the expressions that are chosen instead of written. Pure functions. */

type CronWords =
  | { key: 'cron.minutes'; minutes: number }
  | { key: 'cron.hourly'; minute: number }
  | { key: 'cron.hours'; hours: number; minute: number }
  | { key: 'cron.daily'; time: string }
  | { key: 'cron.workingDays'; time: string }
  | { key: 'cron.weekly'; days: readonly number[]; time: string }
  | { key: 'cron.monthly'; day: number; time: string }

const dayNames = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']
const nicknames: Record<string, string> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
}

/** Describes an expression; null if it is of no kind of `CronWords`. */
export function describeCron(expression: string): CronWords | null {
  const text = expression.trim().toUpperCase()
  const fields = (nicknames[text.toLowerCase()] ?? text).split(/\s+/).map(field => (field === '*/1' ? '*' : field))
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = fields
  if (fields.length !== 5 || month !== '*') return null
  if (day === '*' && weekday === '*') {
    const every = describeInterval(minute, hour)
    if (every) return every
  }
  const time = parseTime(minute, hour)
  if (time === null) return null
  if (day === '*') return describeWeekdays(weekday, time)
  const number = parseNumber(day, 31)
  return weekday === '*' && number !== null && number > 0 ? { key: 'cron.monthly', day: number, time } : null
}

export const frequencies = ['daily', 'workingDays', 'weekly', 'monthly'] as const
export type Frequency = (typeof frequencies)[number]

/** An expression that can be chosen. `weekday` (0 for Sunday) and `day` count for the frequency that needs them. */
export interface ChosenTimes {
  frequency: Frequency
  time: string
  weekday: number
  day: number
}

/** Returns the choice that an expression stands for; null if it can only be written. */
export function findChoice(expression: string): ChosenTimes | null {
  const words = describeCron(expression)
  switch (words?.key) {
    case 'cron.daily':
      return { frequency: 'daily', time: words.time, weekday: 1, day: 1 }
    case 'cron.workingDays':
      return { frequency: 'workingDays', time: words.time, weekday: 1, day: 1 }
    case 'cron.weekly':
      return words.days.length === 1
        ? { frequency: 'weekly', time: words.time, weekday: words.days[0] ?? 1, day: 1 }
        : null
    case 'cron.monthly':
      return { frequency: 'monthly', time: words.time, weekday: 1, day: words.day }
    default:
      return null
  }
}

export function buildCron({ frequency, time, weekday, day }: ChosenTimes): string {
  const [hour, minute] = time.split(':').map(Number)
  const days = { daily: '* * *', workingDays: '* * 1-5', weekly: `* * ${weekday}`, monthly: `${day} * *` }
  return `${minute} ${hour} ${days[frequency]}`
}

function describeInterval(minute: string, hour: string): CronWords | null {
  const minutes = parseStep(minute, 60)
  if (minutes !== null) return hour === '*' ? { key: 'cron.minutes', minutes } : null
  const at = parseNumber(minute, 59)
  if (at === null) return null
  if (hour === '*') return { key: 'cron.hourly', minute: at }
  const hours = parseStep(hour, 24)
  return hours === null ? null : { key: 'cron.hours', hours, minute: at }
}

function describeWeekdays(weekday: string, time: string): CronWords | null {
  if (weekday === '*') return { key: 'cron.daily', time }
  if (weekday === '1-5' || weekday === 'MON-FRI') return { key: 'cron.workingDays', time }
  const days = weekday.split(',').map(parseDay)
  return days.every(day => day !== null) ? { key: 'cron.weekly', days, time } : null
}

// Only a step that divides the whole makes equal intervals.
const parseStep = (field: string, whole: number) =>
  /^\*\/\d+$/.test(field) && whole % Number(field.slice(2)) === 0 ? Number(field.slice(2)) : null
const parseNumber = (field: string, most: number) =>
  /^\d{1,2}$/.test(field) && Number(field) <= most ? Number(field) : null

/** Returns the number of a day of the week, 0 for Sunday. */
function parseDay(field: string): number | null {
  const index = dayNames.indexOf(field)
  if (index >= 0) return index
  const number = parseNumber(field, 7)
  return number === null ? null : number % 7
}

function parseTime(minute: string, hour: string): string | null {
  const [m, h] = [parseNumber(minute, 59), parseNumber(hour, 23)]
  return m === null || h === null ? null : `${String(h).padStart(2, '0')}:${String(m).padStart(2, '0')}`
}
