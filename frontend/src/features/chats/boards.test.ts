import { describe, expect, it } from 'vitest'
import { boardRow, boardTaskRow as task, taskResult } from '@/testing/rows'
import {
  canRetry,
  compareDescriptions,
  formatParameter,
  getTaskStatus,
  groupTasks,
  listOpenTasks,
  listReused,
  readParameter,
} from './boards'

const ended = { ended_at: '2026-11-20T10:01:00Z' }

describe('the status of a task', () => {
  it('says whether its result was brought by an earlier board, and whether its run waits for a person', () => {
    const reused = task(1, { state: 'succeeded', results: [taskResult({ is_reused: true })] })
    expect(getTaskStatus(reused, false)).toBe('reused')
    expect(getTaskStatus(task(1, { state: 'running' }), true)).toBe('waitsForPerson')
    expect(getTaskStatus(task(1, { state: 'failed', reason_code: 'stopped' }), false)).toBe('stopped')
    expect(getTaskStatus(task(1, { state: 'cancelled', attempt: 1 }), false)).toBe('stopped')
    expect(getTaskStatus(task(1, { state: 'cancelled' }), false)).toBe('notStarted')
  })
})

it('opens the tasks that failed or wait, and the first three that work, while the board is executed', () => {
  const tasks = [1, 2, 3, 4, 5, 6].map(number => task(number))
  const statuses = ['done', 'working', 'working', 'working', 'working', 'failed'] as const
  expect([...listOpenTasks(boardRow(), tasks, statuses)]).toEqual([2, 3, 4, 6])
  expect([...listOpenTasks(boardRow({ state: 'completed' }), tasks, statuses)]).toEqual([])
})

it('puts done and further tasks of a large board together, but never one that failed or waits for a person', () => {
  const tasks = Array.from({ length: 13 }, (_, index) => task(index + 1))
  const statuses = tasks.map((_, index) =>
    index < 5 ? 'done' : index === 5 ? 'failed' : index === 12 ? 'waitsForPerson' : index < 10 ? 'working' : 'waiting',
  )
  const { done, shown, further } = groupTasks(tasks, statuses)
  expect(done.map(each => each.number)).toEqual([1, 2, 3, 4, 5])
  expect(shown.map(each => each.number)).toEqual([6, 7, 8, 9, 13])
  expect(further.map(each => each.number)).toEqual([10, 11, 12])
  expect(groupTasks(tasks.slice(1), statuses.slice(1)).shown).toHaveLength(12)
})

it('tries a failed task again only while nothing has followed from its failure', () => {
  const failed = task(1, { state: 'failed', attempt: 2, ...ended })
  const board = boardRow()
  expect(canRetry(board, failed, [failed, task(2, { after: [1] })])).toBe(true)
  expect(canRetry(board, failed, [failed, task(2, { after: [1], state: 'skipped', ...ended })])).toBe(false)
  expect(canRetry(board, failed, [failed, task(2, { after: [1], state: 'running', attempt: 1 })])).toBe(false)
  expect(canRetry({ ...board, state: 'aggregating' }, failed, [failed])).toBe(false)
})

it('reuses the results of the tasks that do not follow the one that is done again', () => {
  const done = { state: 'succeeded' } as const
  const tasks = [task(1, done), task(2, { ...done, after: [1] }), task(3, { ...done, after: [2] }), task(4, done)]
  expect(listReused(tasks, 2)).toEqual([1, 4])
  expect(listReused([...tasks, task(5, { state: 'failed' })], 4)).toEqual([1, 2, 3])
})

it('marks the words of a description that were changed', () => {
  expect(compareDescriptions('Add it up at today’s rate', 'Add it up at the rate of Friday')).toEqual([
    { kind: 'same', text: 'Add it up at ' },
    { kind: 'removed', text: 'today’s rate' },
    { kind: 'added', text: 'the rate of Friday' },
  ])
  expect(compareDescriptions('查今天的匯率', '查昨天的匯率')).toEqual([
    { kind: 'same', text: '查' },
    { kind: 'removed', text: '今' },
    { kind: 'added', text: '昨' },
    { kind: 'same', text: '天的匯率' },
  ])
})

it.each([6, 1.5, true, null, 'Kyoto', '6', '"quoted"', 'true', ['a'], { b: 1 }, ''])(
  'reads the parameter %j as it was written',
  value => expect(readParameter(formatParameter(value))).toEqual(value),
)
