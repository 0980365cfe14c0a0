/** The time between saving a draft and loading the new production version. */
import type { DraftRow } from '@/api'

/** Finds the draft that was saved as a version which is not loaded yet. Until it is, the text of the draft stays on the screen. */
export function findJustSavedDraft(drafts: Iterable<DraftRow>, agentId: string, production: number): DraftRow | null {
  for (const row of drafts)
    if (row.agent_id === agentId && row.outcome === 'saved' && row.base_version >= production) return row
  return null
}
