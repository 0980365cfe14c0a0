/** Other answers of an agent to the same message. The code that shows them in their place is loaded on first use. */
import { useEffect, useState } from 'react'
import type { MessageRow, RunRow } from '@/api'
import { observable } from '@/lib/observable'
import type { ChatState } from '@/realtime'
import { getRunId } from './comparison'

/** Which answer the reader has chosen to look at. The choice ends when the number of answers changes. */
export interface ShownAnswer {
  runId: string
  count: number
}

/** The answers that the reader has chosen to look at, by the run of the first answer. */
export const shownAnswers = observable<ReadonlyMap<string, ShownAnswer>>(new Map())

const loadAnswerPlaces = () => import('./answerPlaces')
type PlaceAnswers = Awaited<ReturnType<typeof loadAnswerPlaces>>['placeAnswers']

const noRows: readonly MessageRow[] = []

const otherAnswersOfLog = new WeakMap<readonly MessageRow[], readonly MessageRow[]>()

/** Returns the rows of other answers, without the files that they have posted. A log is searched once. */
export function selectOtherAnswers({ log }: Pick<ChatState, 'log'>): readonly MessageRow[] {
  const found = otherAnswersOfLog.get(log) ?? findOtherAnswers(log)
  otherAnswersOfLog.set(log, found)
  return found
}

function findOtherAnswers(log: readonly MessageRow[]): readonly MessageRow[] {
  const runIds = new Set(log.filter(row => row.group_seq !== null).map(getRunId))
  if (runIds.size === 0) return noRows
  return log.filter(
    row => runIds.has(getRunId(row)) && !row.metadata && row.type !== 'ANSWER_CHOSEN' && row.type !== 'FILE_MESSAGE',
  )
}

/** Returns the `seq` of the place at which a message is shown: another answer has that of the first one. */
export const getPlaceSeq = (row: MessageRow): number => row.group_seq ?? row.seq

/** Returns the runs of other answers: those with rows, and the active ones. */
export const listOtherRuns = (rows: readonly MessageRow[], active: readonly RunRow[]): ReadonlySet<string> =>
  new Set([...rows.map(getRunId), ...active.flatMap(run => (run.group_seq === null ? [] : run.id))])

/** Returns the function that shows other answers in their place; null until it is needed and loaded. */
export function usePlaceAnswers(rows: readonly MessageRow[], active: readonly RunRow[]): PlaceAnswers | null {
  const [placeAnswers, setPlaceAnswers] = useState<PlaceAnswers | null>(null)
  const isNeeded = listOtherRuns(rows, active).size > 0
  useEffect(() => {
    if (isNeeded)
      loadAnswerPlaces().then(
        module => setPlaceAnswers(() => module.placeAnswers),
        () => undefined, // the first answers are shown until the page is loaded again
      )
  }, [isNeeded])
  return placeAnswers
}
