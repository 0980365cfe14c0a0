/** The steps and the progress of a merge. Pure functions. */
import type { MergeRow } from '@/api'

/** The last step opens the draft with the result. */
const stepNames = ['read', 'merging', 'conflicts', 'opens'] as const
export type StepName = (typeof stepNames)[number]
export type StepState = 'done' | 'now' | 'failed' | 'todo'

/** The number of written characters and the expected total, from `progress` frames. */
export interface WrittenChars {
  done: number
  expected: number
}

export const isMergeActive = (merge: Pick<MergeRow, 'state'>) => merge.state === 'waiting' || merge.state === 'working'

/** The written share above which the model mostly names conflicts. */
const CONFLICTS_SHARE = 0.9

const getWrittenShare = (written: WrittenChars | null) =>
  written && written.expected > 0 ? Math.min(1, written.done / written.expected) : 0

/** Returns whether a merge has started. Written characters show it before its row is read again. */
const hasStarted = (merge: MergeRow, written: WrittenChars | null) => merge.state !== 'waiting' || written !== null

/** Returns the index of the active step, or of the step at which the merge ended. */
function getStepIndex(merge: MergeRow, written: WrittenChars | null): number {
  if (merge.state === 'done') return stepNames.length
  // There is a result but no draft: only the last step is missing.
  if (merge.provenance) return stepNames.indexOf('opens')
  if (!hasStarted(merge, written)) return stepNames.indexOf('read')
  return stepNames.indexOf(getWrittenShare(written) < CONFLICTS_SHARE ? 'merging' : 'conflicts')
}

export function buildSteps(merge: MergeRow, written: WrittenChars | null): { name: StepName; state: StepState }[] {
  const at = getStepIndex(merge, written)
  const current: StepState = isMergeActive(merge) ? 'now' : merge.state === 'failed' ? 'failed' : 'todo'
  return stepNames.map((name, index) => ({ name, state: index < at ? 'done' : index === at ? current : 'todo' }))
}

/** Returns the progress from 0 to 100, which is coarse until `progress` frames arrive. */
export function getPercent(merge: MergeRow, written: WrittenChars | null): number {
  if (merge.state === 'done') return 100
  if (merge.provenance) return 95
  return hasStarted(merge, written) ? Math.round(12 + 80 * getWrittenShare(written)) : 4
}
