/** The selection of suggestions in a list. Pure functions. */
import type { ListedSuggestionRow } from '@/api'
import type { PlainTextKey } from '@/lib/language'

export type Selection = ReadonlySet<string>

/** The maximal number of suggestions in one merge. */
const MAX_MERGED = 20

export const isSelectable = (row: ListedSuggestionRow) => row.verbs.includes('accept') || row.verbs.includes('reject')

export function toggle(picked: Selection, id: string): Selection {
  const next = new Set(picked)
  if (!next.delete(id)) next.add(id)
  return next
}

/** Lists the selected rows that are still selectable, oldest first: this is the order of precedence in conflicts. */
export const listSelectedRows = (rows: readonly ListedSuggestionRow[], picked: Selection): ListedSuggestionRow[] =>
  rows.filter(row => picked.has(row.id) && isSelectable(row)).sort((a, b) => a.created_at.localeCompare(b.created_at))

export function getSelectionState(rows: readonly ListedSuggestionRow[], picked: Selection): boolean | 'mixed' {
  const selectable = rows.filter(isSelectable)
  const count = selectable.filter(row => picked.has(row.id)).length
  if (count === 0) return false
  return count === selectable.length || 'mixed'
}

/** Selects all, or none if all are selected. */
export const toggleAll = (rows: readonly ListedSuggestionRow[], picked: Selection): Selection =>
  getSelectionState(rows, picked) === true ? new Set() : new Set(rows.filter(isSelectable).map(row => row.id))

/** Returns the key of the reason why the rows cannot be merged; null if they can. */
export function getMergeObstacle(chosen: readonly ListedSuggestionRow[]): PlainTextKey | null {
  if (chosen.length === 0) return 'pickFirst'
  if (new Set(chosen.map(row => row.agent.id)).size > 1) return 'oneAgentOnly'
  if (chosen.length > MAX_MERGED) return 'tooManyToMerge'
  return chosen.every(row => row.verbs.includes('accept')) ? null : 'notYoursToDecide'
}

export function getRejectObstacle(chosen: readonly ListedSuggestionRow[]): PlainTextKey | null {
  if (chosen.length === 0) return 'pickFirst'
  return chosen.every(row => row.verbs.includes('reject')) ? null : 'notYoursToDecide'
}
