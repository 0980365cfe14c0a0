/** Shows other answers of an agent in the place of the first one, one at a time. It is loaded on first use. */
import { chooseAnswer, type MessageRow, type RunRow, requestOtherAnswer } from '@/api'
import { getErrorText } from '@/lib/errors'
import { type ChatState, chatState, isActive, upsertRows } from '@/realtime'
import { showToast } from '@/ui/toast'
import { getRunId } from './comparison'
import { type ShownAnswer, selectOtherAnswers, shownAnswers } from './otherAnswers'
import type { Item } from './timeline'

const noRows: readonly MessageRow[] = []
const noRuns: readonly string[] = []

/** The rows of the other answers by their runs, oldest first, by the `seq` of the first row of the first answer. */
type OtherAnswers = ReadonlyMap<number, ReadonlyMap<string, readonly MessageRow[]>>

/** Groups the rows of other answers, and the active runs that write one. */
function groupOtherAnswers(rows: readonly MessageRow[], active: readonly RunRow[]): OtherAnswers {
  const groupOfRun = new Map<string, number>()
  for (const row of rows) if (row.group_seq !== null) groupOfRun.set(getRunId(row), row.group_seq)
  for (const run of active) if (run.group_seq !== null) groupOfRun.set(run.id, run.group_seq)
  const groups = new Map<number, Map<string, MessageRow[]>>()
  // The id of a run begins with the time at which it was created.
  for (const runId of [...groupOfRun.keys()].sort()) {
    const seq = groupOfRun.get(runId) ?? 0
    groups.set(seq, (groups.get(seq) ?? new Map<string, MessageRow[]>()).set(runId, []))
  }
  for (const row of rows) {
    const runId = getRunId(row)
    groups
      .get(groupOfRun.get(runId) ?? 0)
      ?.get(runId)
      ?.push(row)
  }
  return groups
}

/**
 * Returns the run of the answer that is shown: the one that the reader has chosen to look at, else the newest that is
 * being written, else the one in use.
 */
function chooseShown(
  answers: readonly string[],
  inUse: string | null,
  active: readonly RunRow[],
  shown: ReadonlyMap<string, ShownAnswer>,
): string {
  const first = answers[0] ?? ''
  const looked = shown.get(first)
  if (looked && looked.count === answers.length && answers.includes(looked.runId)) return looked.runId
  return answers.findLast(id => active.some(run => run.id === id)) ?? inUse ?? first
}

/** Returns whether these rows of an answer are in use: agents read them. */
const isInUse = (rows: readonly MessageRow[]) => rows.some(row => row.type === 'TEXT_MESSAGE' && !row.is_unused)

/** Shows one of the answers in the place of each first answer that has others. */
export function placeAnswers(
  items: readonly Item[],
  otherAnswers: readonly MessageRow[],
  active: readonly RunRow[],
  shown: ReadonlyMap<string, ShownAnswer>,
): readonly Item[] {
  let result = items
  for (const [seq, rowsByRun] of groupOtherAnswers(otherAnswers, active)) {
    const place = result.find(item => item.kind === 'reply' && item.rows.some(row => row.seq === seq))
    if (place?.kind === 'reply') result = showAnswerIn(result, place.runId, rowsByRun, active, shown)
  }
  return result
}

function showAnswerIn(
  items: readonly Item[],
  firstRun: string,
  rowsByRun: ReadonlyMap<string, readonly MessageRow[]>,
  active: readonly RunRow[],
  shown: ReadonlyMap<string, ShownAnswer>,
): readonly Item[] {
  const isOfFirst = (item: Item) => item.kind === 'reply' && item.runId === firstRun
  const firstRows = items.flatMap(item => (item.kind === 'reply' && item.runId === firstRun ? item.rows : []))
  const answers = [firstRun, ...rowsByRun.keys()]
  const inUse = isInUse(firstRows) ? firstRun : ([...rowsByRun].find(([, rows]) => isInUse(rows))?.[0] ?? null)
  const runId = chooseShown(answers, inUse, active, shown)
  if (runId === firstRun)
    return items.map(item =>
      item.kind === 'reply' && isOfFirst(item) ? { ...item, answers, isUnused: inUse !== runId } : item,
    )
  const start = items.findIndex(isOfFirst)
  const rows = rowsByRun.get(runId) ?? noRows
  const run = active.find(({ id }) => id === runId)
  return items.flatMap((item, index) => {
    if (item.kind !== 'reply' || !isOfFirst(item)) return item
    if (index > start) return []
    const at = rows[0]?.created_at ?? run?.created_at ?? item.at
    return {
      ...item,
      runId,
      rows,
      at,
      earlierRows: [],
      last: true,
      answers,
      isUnused: inUse !== runId,
      replacedRows: firstRows,
    }
  })
}

/** Shows one of the answers, given by their runs, in their place. */
export function showAnswer(answers: readonly string[], runId: string): void {
  const [first] = answers
  if (first) shownAnswers.set(new Map(shownAnswers.get()).set(first, { runId, count: answers.length }))
}

/** Returns the runs of all answers in the place of the reply that is shown with this id, the first one first. */
function findAnswers(chat: ChatState, id: string): readonly string[] {
  const row = chat.rows.message.get(id)
  const runId = row ? getRunId(row) : id
  if (runId === '' || row?.type === 'ANSWER_CHOSEN') return noRuns
  const seq =
    row?.group_seq ?? chat.rows.run.get(runId)?.group_seq ?? chat.log.find(other => getRunId(other) === runId)?.seq
  const first = chat.log.find(other => other.seq === seq)
  if (seq === undefined || !first) return noRuns
  const active = [...chat.rows.run.values()].filter(isActive)
  return [getRunId(first), ...(groupOtherAnswers(selectOtherAnswers(chat), active).get(seq)?.keys() ?? [])]
}

/**
 * Shows the answer with this message in the place of the first answer. Returns the `seq` of that place; null for a
 * message that is shown in its own place.
 */
export function revealAnswer(chat: ChatState, id: string): number | null {
  const row = chat.rows.message.get(id)
  const answers = row ? findAnswers(chat, id) : noRuns
  if (row && answers.length > 1) showAnswer(answers, getRunId(row))
  return row?.group_seq ?? null
}

/** Shows the previous (-1) or the next (1) answer in the place of the reply that is shown with this id. Returns whether there is one. */
export function showNeighbour(chat: ChatState, id: string, step: -1 | 1): boolean {
  const answers = findAnswers(chat, id)
  const row = chat.rows.message.get(id)
  const next = answers[answers.indexOf(row ? getRunId(row) : id) + step]
  if (next) showAnswer(answers, next)
  return next !== undefined
}

/** Asks the agent for another answer in the place of this one. */
export async function askOtherAnswer(chatId: string, runId: string): Promise<void> {
  try {
    const run = await requestOtherAnswer(runId)
    upsertRows(chatId, [run])
    // It is shown even if the agent then fails to give it.
    showAnswer(findAnswers(chatState(chatId), run.id), run.id)
  } catch (error) {
    showToast(getErrorText(error))
  }
}

/** Puts this answer into use: agents read it instead of the others in its place. */
export async function setAnswerInUse(chatId: string, runId: string): Promise<void> {
  try {
    upsertRows(chatId, [await chooseAnswer(runId)])
  } catch (error) {
    showToast(getErrorText(error))
  }
}
