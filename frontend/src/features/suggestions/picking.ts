/** Picking suggestions from a list. Pure. */
import type { ListedSuggestionRow } from '@/api'
import type { TextKey } from '@/lib/language'

export type Picked = ReadonlySet<string>

/** So many are merged at once, at most. */
export const MOST_MERGED = 20

export const isPickable = (row: ListedSuggestionRow) => row.verbs.includes('accept') || row.verbs.includes('reject')

export function toggled(picked: Picked, id: string): Picked {
  const next = new Set(picked)
  if (!next.delete(id)) next.add(id)
  return next
}

/** Those of the list that are picked and still can be, oldest first: who asked first stands first where two disagree. */
export const chosenOf = (rows: readonly ListedSuggestionRow[], picked: Picked): ListedSuggestionRow[] =>
  rows.filter(row => picked.has(row.id) && isPickable(row)).sort((a, b) => a.created_at.localeCompare(b.created_at))

export function allPicked(rows: readonly ListedSuggestionRow[], picked: Picked): boolean | 'mixed' {
  const able = rows.filter(isPickable)
  const count = able.filter(row => picked.has(row.id)).length
  if (count === 0) return false
  return count === able.length || 'mixed'
}

/** Picks all, or lets go of all when all are picked. */
export const toggledAll = (rows: readonly ListedSuggestionRow[], picked: Picked): Picked =>
  allPicked(rows, picked) === true ? new Set() : new Set(rows.filter(isPickable).map(row => row.id))

/** Why these cannot be merged now; null when they can. */
export function whyNotMerge(chosen: readonly ListedSuggestionRow[]): TextKey | null {
  if (chosen.length === 0) return 'pickFirst'
  if (new Set(chosen.map(row => row.agent.id)).size > 1) return 'oneAgentOnly'
  if (chosen.length > MOST_MERGED) return 'tooManyToMerge'
  return chosen.every(row => row.verbs.includes('accept')) ? null : 'notYoursToMerge'
}

export function whyNotReject(chosen: readonly ListedSuggestionRow[]): TextKey | null {
  if (chosen.length === 0) return 'pickFirst'
  return chosen.every(row => row.verbs.includes('reject')) ? null : 'notYoursToMerge'
}
