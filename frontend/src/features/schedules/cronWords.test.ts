import { expect, it } from 'vitest'
import { buildCron, describeCron, findChoice } from './cronWords'

it.each([
  ['0 8 * * 1-5', { key: 'cron.workingDays', time: '08:00' }],
  ['0 8 * * mon-fri', { key: 'cron.workingDays', time: '08:00' }],
  ['30 17 * * 5', { key: 'cron.weekly', days: [5], time: '17:30' }],
  ['0 9 * * SAT,7', { key: 'cron.weekly', days: [6, 0], time: '09:00' }],
  ['@daily', { key: 'cron.daily', time: '00:00' }],
  ['@weekly', { key: 'cron.weekly', days: [0], time: '00:00' }],
  ['*/15 * * * *', { key: 'cron.minutes', minutes: 15 }],
  ['5 * * * *', { key: 'cron.hourly', minute: 5 }],
  ['0 */1 * * *', { key: 'cron.hourly', minute: 0 }],
  ['0 */6 * * *', { key: 'cron.hours', hours: 6, minute: 0 }],
  ['0 8 1 * *', { key: 'cron.monthly', day: 1, time: '08:00' }],
])('describes %s', (expression, words) => {
  expect(describeCron(expression)).toEqual(words)
})

it.each([
  '* * * * *',
  '*/1 * * * *',
  '0 8 1 * 1',
  '0 8 * 1 *',
  '0 8,9 * * *',
  '0 8 * * 1-3',
  '*/15 8 * * *',
  'soon',
  '',
  '0 8 0 * *',
])('has no words for %s', expression => {
  expect(describeCron(expression)).toBeNull()
})

it.each(['*/45 * * * *', '*/0 * * * *', '0 */5 * * *', '0 */48 * * *'])(
  'has no words for %s, whose intervals are not equal',
  expression => {
    expect(describeCron(expression)).toBeNull()
  },
)

it.each(['0 8 * * *', '30 17 * * 1-5', '5 9 * * 0', '0 8 31 * *'])('builds %s from its choice', expression => {
  const choice = findChoice(expression)
  expect(choice && buildCron(choice)).toBe(expression)
})

it.each(['*/15 * * * *', '0 9 * * 1,3', '0 8 * 1 *', 'soon'])('offers no choice for %s', expression => {
  expect(findChoice(expression)).toBeNull()
})
