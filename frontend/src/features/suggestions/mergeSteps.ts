/** How far a merge is, as people see it. Pure. */
import type { MergeRow } from '@/api'

const stepNames = ['read', 'merging', 'conflicts', 'opens'] as const
export type StepName = (typeof stepNames)[number]
export type StepState = 'done' | 'now' | 'failed' | 'todo'

/** Characters written, of about how many: from `progress` frames. */
export interface Written {
  done: number
  expected: number
}

export const isUnderWay = (merge: Pick<MergeRow, 'state'>) => merge.state === 'waiting' || merge.state === 'working'

/** The written share from which on what is left is mostly the naming of conflicts. */
const MOSTLY = 0.9

const shareOf = (written: Written | null) =>
  written && written.expected > 0 ? Math.min(1, written.done / written.expected) : 0

/** It has begun when something is written: no list changes then. */
const hasStarted = (merge: MergeRow, written: Written | null) => merge.state !== 'waiting' || written !== null

/** The index of the step that is going on, or at which it ended. */
function reached(merge: MergeRow, written: Written | null): number {
  if (merge.state === 'done') return stepNames.length
  // A result without a draft: all was done but the last step.
  if (merge.provenance) return stepNames.indexOf('opens')
  if (!hasStarted(merge, written)) return stepNames.indexOf('read')
  return stepNames.indexOf(shareOf(written) < MOSTLY ? 'merging' : 'conflicts')
}

export function stepsOf(merge: MergeRow, written: Written | null): { name: StepName; state: StepState }[] {
  const at = reached(merge, written)
  const current: StepState = isUnderWay(merge) ? 'now' : merge.state === 'failed' ? 'failed' : 'todo'
  return stepNames.map((name, index) => ({ name, state: index < at ? 'done' : index === at ? current : 'todo' }))
}

/** 0 to 100. Coarse until `progress` frames come. */
export function percentOf(merge: MergeRow, written: Written | null): number {
  if (merge.state === 'done') return 100
  if (merge.provenance) return 95
  return hasStarted(merge, written) ? Math.round(12 + 80 * shareOf(written)) : 4
}
