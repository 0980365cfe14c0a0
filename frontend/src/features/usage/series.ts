/** The series of a chart, each with a colour: the largest groups, and all others together. Pure functions. */
import type { UsageRow } from '@/api'

const MAX_SERIES = 5

export interface Series {
  key: string
  name: string
  /** A custom property of the stylesheet. */
  colour: string
}

const colours = ['--face-1', '--prod-solid', '--face-2', '--face-3', '--writing-solid']
/** The key of the row of a day in which the server adds up all groups that have no rows by day of their own. */
export const OTHERS_KEY = 'others'
export const OTHERS_COLOUR = '--line-control'

/** Returns the groups with the highest costs, with their colours. */
export const chooseSeries = (rows: readonly UsageRow[], nameOf: (row: UsageRow) => string): Series[] =>
  rows
    .slice(0, MAX_SERIES)
    .map((row, at) => ({ key: row.key, name: nameOf(row), colour: `var(${colours[at % colours.length]})` }))

/** Returns for each day the costs of each series in turn and of all others, in millionths of a dollar. */
export function sumByDay(days: readonly string[], rows: readonly UsageRow[], series: readonly Series[]): number[][] {
  const places = new Map(series.map((each, at) => [each.key, at]))
  const sums = new Map(days.map(day => [day, Array.from({ length: series.length + 1 }, () => 0)]))
  for (const row of rows) {
    const sum = sums.get(row.day ?? '')
    const place = places.get(row.key) ?? series.length
    if (sum) sum[place] = (sum[place] ?? 0) + row.cost_micro
  }
  return days.map(day => sums.get(day) ?? [])
}
