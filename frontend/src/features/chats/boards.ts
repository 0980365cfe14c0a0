/** The states of a board and of its tasks as they are shown, and what may be done with them. Pure functions. */
import type { ApprovalAskedRow, BoardRow, BoardTaskRow, CallTarget, TaskResultRow } from '@/api'

/**
 * `waiting`: for others or for its turn; `notStarted`: the board ended before its turn came; `stopped`: by a person, or because
 * the board ended.
 */
export type TaskStatus =
  | 'done'
  | 'reused'
  | 'working'
  | 'waitsForPerson'
  | 'failed'
  | 'stopped'
  | 'skipped'
  | 'notStarted'
  | 'waiting'

/** In the order in which the head of a board counts them. */
const taskStatuses: readonly TaskStatus[] = [
  'done',
  'reused',
  'working',
  'waitsForPerson',
  'failed',
  'stopped',
  'skipped',
  'notStarted',
  'waiting',
]

/** Returns the results of a task that count, the oldest first. */
export const listTries = (task: BoardTaskRow): readonly TaskResultRow[] => task.results.filter(each => !each.is_late)

/** Returns the result of a task that has succeeded. */
export const getResult = (task: BoardTaskRow): TaskResultRow | null =>
  listTries(task).findLast(each => each.success) ?? null

/** `isWaiting`: a run of the task waits for a person. */
export function getTaskStatus(task: BoardTaskRow, isWaiting: boolean): TaskStatus {
  switch (task.state) {
    case 'succeeded':
      return getResult(task)?.is_reused ? 'reused' : 'done'
    case 'running':
      return isWaiting ? 'waitsForPerson' : 'working'
    case 'failed':
      return task.reason_code === 'stopped' ? 'stopped' : 'failed'
    case 'cancelled':
      return task.attempt > 0 ? 'stopped' : 'notStarted'
    case 'skipped':
      return 'skipped'
    default:
      return 'waiting'
  }
}

export function countStatuses(statuses: readonly TaskStatus[]): ReadonlyMap<TaskStatus, number> {
  const counts = new Map<TaskStatus, number>()
  for (const status of taskStatuses) {
    const count = statuses.filter(each => each === status).length
    if (count > 0) counts.set(status, count)
  }
  return counts
}

/** From this number on, tasks are one line each; their parameters are shown when they are unfolded. */
export const MANY_TASKS = 9
/** From this number on, done and waiting tasks are one line together. */
const VERY_MANY_TASKS = 13
/** The working tasks that are open, or stay outside of the line of the others. */
const OPEN_WORKING = 3

/** Returns the numbers of the tasks that are open unless the reader has folded them: the first that work, those that wait for a person and those that failed. */
export function listOpenTasks(
  board: BoardRow,
  tasks: readonly BoardTaskRow[],
  statuses: readonly TaskStatus[],
): ReadonlySet<number> {
  if (board.state !== 'executing') return new Set()
  let working = 0
  return new Set(
    tasks
      .filter((_, index) => {
        const status = statuses[index]
        if (status === 'working') working += 1
        return status === 'waitsForPerson' || status === 'failed' || (status === 'working' && working <= OPEN_WORKING)
      })
      .map(task => task.number),
  )
}

/** The tasks of a board with very many: those that are shown, between those that are done and further ones. */
interface TaskGroups {
  done: readonly BoardTaskRow[]
  shown: readonly BoardTaskRow[]
  further: readonly BoardTaskRow[]
}

export function groupTasks(tasks: readonly BoardTaskRow[], statuses: readonly TaskStatus[]): TaskGroups {
  if (tasks.length < VERY_MANY_TASKS) return { done: [], shown: tasks, further: [] }
  let working = 0
  const groupOf = tasks.map((_, index): keyof TaskGroups => {
    const status = statuses[index]
    if (status === 'working') working += 1
    if (status === 'done' || status === 'reused') return 'done'
    if (status === 'waitsForPerson' || status === 'failed' || (status === 'working' && working <= OPEN_WORKING))
      return 'shown'
    return 'further'
  })
  const listGroup = (group: keyof TaskGroups) => {
    const found = tasks.filter((_, index) => groupOf[index] === group)
    return group !== 'shown' && found.length === 1 ? [] : found
  }
  const [done, further] = [listGroup('done'), listGroup('further')]
  return { done, further, shown: tasks.filter(task => !done.includes(task) && !further.includes(task)) }
}

/** Returns whether a failed task can be tried again in the same board: what follows it has not been decided yet. */
export const canRetry = (board: BoardRow, task: BoardTaskRow, tasks: readonly BoardTaskRow[]): boolean =>
  board.state === 'executing' &&
  task.state === 'failed' &&
  tasks.every(other => !other.after.includes(task.number) || (!other.ended_at && other.attempt === 0))

/** Returns whether a board can be run again from one of its tasks: it has ended, and had a plan. */
export const canFork = (board: BoardRow): boolean => board.ended_at !== null && board.task_count > 0

/** Returns the numbers of the tasks whose results a new board would reuse when it is run again from a task. */
export function listReused(tasks: readonly BoardTaskRow[], number: number): readonly number[] {
  const again = new Set([number])
  let size = 0
  while (size < again.size) {
    size = again.size
    for (const task of tasks) if (task.after.some(after => again.has(after))) again.add(task.number)
  }
  return tasks.filter(task => task.state === 'succeeded' && !again.has(task.number)).map(task => task.number)
}

/** Returns the tasks that have brought no result although the board has its answer. */
export const listMissing = (board: BoardRow, tasks: readonly BoardTaskRow[]): readonly BoardTaskRow[] =>
  board.state === 'completed' ? tasks.filter(task => task.state !== 'succeeded') : []

/** A call of a task that waits for a person. `target`: where it goes; null if it stays here, undefined if that is not loaded. */
export interface WaitingCall {
  task: BoardTaskRow
  row: ApprovalAskedRow
  target: CallTarget | null | undefined
}

/**
 * Returns the waiting calls of the same tool with the same arguments and target, in groups of at least two. The server decides
 * about the calls of a group together. A call whose target is not known to the reader is in none: it needs a look of its own.
 */
export function groupEqualCalls(calls: readonly WaitingCall[]): readonly (readonly WaitingCall[])[] {
  const groups = new Map<string, WaitingCall[]>()
  for (const call of calls) {
    const { target, row } = call
    if (target === undefined || (target?.type === 'chat' && target.is_hidden)) continue
    const key = JSON.stringify([row.payload.tool, row.payload.arguments, identifyTarget(target)])
    groups.set(key, [...(groups.get(key) ?? []), call])
  }
  return [...groups.values()].filter(group => group.length > 1)
}

/** Returns what tells a target from others. The names of a chat and of its readers do not count, as on the server. */
function identifyTarget(target: CallTarget | null): unknown {
  if (target?.type !== 'chat') return target
  return [target.workspace_id, target.chat_id, target.readers.map(reader => reader.actor_id).sort()]
}

/** A part of a description: of the earlier one, of the new one, or of both. */
interface ChangedPart {
  kind: 'same' | 'removed' | 'added'
  text: string
}

/** Returns how a description was changed: the words between those at its start and at its end that stayed. */
export function compareDescriptions(before: string, after: string): readonly ChangedPart[] {
  const [old, now] = [splitWords(before), splitWords(after)]
  const most = Math.min(old.length, now.length)
  let start = 0
  while (start < most && old[start] === now[start]) start += 1
  let end = 0
  while (end < most - start && old.at(-1 - end) === now.at(-1 - end)) end += 1
  const parts: ChangedPart[] = [
    { kind: 'same', text: now.slice(0, start).join('') },
    { kind: 'removed', text: old.slice(start, old.length - end).join('') },
    { kind: 'added', text: now.slice(start, now.length - end).join('') },
    { kind: 'same', text: now.slice(now.length - end).join('') },
  ]
  return parts.filter(part => part.text !== '')
}

/** Words and the spaces between them; Chinese characters are words. */
const splitWords = (text: string): readonly string[] => text.match(/\s+|[\u3400-\u9fff]|[^\s\u3400-\u9fff]+/g) ?? []

/** Returns the value of a parameter as a person writes it. A text that would be read as another value is in quotes. */
export function formatParameter(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value)
  return typeof readParameter(value) === 'string' && !value.startsWith('"') ? value : JSON.stringify(value)
}

/** Returns the values of a result that follows a schema; null if its text is no whole object. */
export function readValues({
  text,
  follows_schema: followsSchema,
}: TaskResultRow): readonly [string, unknown][] | null {
  if (!followsSchema) return null
  const values = readParameter(text)
  return typeof values === 'object' && values !== null && !Array.isArray(values) ? Object.entries(values) : null
}

/** Returns a result in one line. */
export const formatResult = (result: TaskResultRow): string =>
  readValues(result)
    ?.map(([name, value]) => `${name}: ${formatParameter(value)}`)
    .join(' · ') ?? result.text

/** Reads what a person has written: a number, `true`, `false`, `null`, a list, an object or a text in quotes as JSON, all else as text. */
export function readParameter(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** A parameter as a person writes it. */
export interface ParameterField {
  name: string
  text: string
}

export const toParameterFields = (parameters: BoardTaskRow['parameters']): readonly ParameterField[] =>
  Object.entries(parameters).map(([name, value]) => ({ name, text: formatParameter(value) }))

/** Returns the parameters that a person has written. One without a name is left out. */
export const readParameters = (fields: readonly ParameterField[]): Record<string, unknown> =>
  Object.fromEntries(
    fields.filter(field => field.name.trim() !== '').map(({ name, text }) => [name.trim(), readParameter(text)]),
  )

/** The server's limit for the length of a description, in characters. */
export const MAX_DESCRIPTION = 20_000
