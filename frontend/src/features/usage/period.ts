/** The periods of the usage page. Days are texts such as `2026-11-30`, in the time zone of the workspace. Pure functions. */

export const presets = ['month', 'lastMonth', 'week', 'days30', 'custom'] as const
export type Preset = (typeof presets)[number]

export interface Period {
  startsOn: string
  endsOn: string
}

const MS_PER_DAY = 86_400_000
const toDate = (day: string) => new Date(`${day}T00:00:00Z`)
const toDay = (date: Date) => date.toISOString().slice(0, 10)

/** Returns the day of a time in a time zone, which the locale `en-CA` formats as `2026-11-30`. */
export const getToday = (timeZone: string, now = new Date()): string =>
  new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' }).format(now)

const addDays = (day: string, count: number): string => toDay(new Date(toDate(day).getTime() + count * MS_PER_DAY))

export function getPeriod(preset: Exclude<Preset, 'custom'>, today: string): Period {
  const first = `${today.slice(0, 8)}01`
  switch (preset) {
    case 'month': {
      const dayOfNextMonth = addDays(first, 31)
      return { startsOn: first, endsOn: addDays(`${dayOfNextMonth.slice(0, 8)}01`, -1) }
    }
    case 'lastMonth': {
      const endsOn = addDays(first, -1)
      return { startsOn: `${endsOn.slice(0, 8)}01`, endsOn }
    }
    case 'week':
      return { startsOn: addDays(today, -6), endsOn: today }
    case 'days30':
      return { startsOn: addDays(today, -29), endsOn: today }
  }
}

/** Returns whether a period is a month, from its first to its last day. */
export function isWholeMonth(startsOn: string, endsOn: string): boolean {
  const month = getPeriod('month', startsOn)
  return month.startsOn === startsOn && month.endsOn === endsOn
}

/** Returns the day on which a limit is reached if the whole period costs `pace` at a steady rate, or null if it is not. */
export function findDayOfLimit(startsOn: string, endsOn: string, pace: number, limit: number): string | null {
  if (pace <= limit) return null
  const days = listDays({ startsOn, endsOn })
  return days[Math.floor((days.length * limit) / pace)] ?? null
}

/** Returns every day of a period, at most until `last`. */
export function listDays({ startsOn, endsOn }: Period, last = endsOn): string[] {
  const days: string[] = []
  for (let day = startsOn; day <= endsOn && day <= last; day = addDays(day, 1)) days.push(day)
  return days
}
