/** Picking suggestions from a list. Pure. */
import type { ListedSuggestionRow } from '@/api'
import type { PlainTextKey } from '@/lib/language'

export type Selection = ReadonlySet<string>

/** So many are merged at once, at most. */
const MAX_MERGED = 20

export const isSelectable = (row: ListedSuggestionRow) => row.verbs.includes('accept') || row.verbs.includes('reject')

export function toggle(picked: Selection, id: string): Selection {
  const next = new Set(picked)
  if (!next.delete(id)) next.add(id)
  return next
}

/** Those of the list that are picked and still can be, oldest first: who asked first stands first where two disagree. */
export const selectedRows = (rows: readonly ListedSuggestionRow[], picked: Selection): ListedSuggestionRow[] =>
  rows.filter(row => picked.has(row.id) && isSelectable(row)).sort((a, b) => a.created_at.localeCompare(b.created_at))

export function selectionState(rows: readonly ListedSuggestionRow[], picked: Selection): boolean | 'mixed' {
  const able = rows.filter(isSelectable)
  const count = able.filter(row => picked.has(row.id)).length
  if (count === 0) return false
  return count === able.length || 'mixed'
}

/** Select all, or none when all are selected. */
export const toggleAll = (rows: readonly ListedSuggestionRow[], picked: Selection): Selection =>
  selectionState(rows, picked) === true ? new Set() : new Set(rows.filter(isSelectable).map(row => row.id))

/** Why these cannot be merged now; null when they can. */
export function whyNotMerge(chosen: readonly ListedSuggestionRow[]): PlainTextKey | null {
  if (chosen.length === 0) return 'pickFirst'
  if (new Set(chosen.map(row => row.agent.id)).size > 1) return 'oneAgentOnly'
  if (chosen.length > MAX_MERGED) return 'tooManyToMerge'
  return chosen.every(row => row.verbs.includes('accept')) ? null : 'notYoursToMerge'
}

export function whyNotReject(chosen: readonly ListedSuggestionRow[]): PlainTextKey | null {
  if (chosen.length === 0) return 'pickFirst'
  return chosen.every(row => row.verbs.includes('reject')) ? null : 'notYoursToMerge'
}
