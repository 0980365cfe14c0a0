/** Between a save and the new production's arrival. */
import type { DraftRow } from '@/api'

/** The draft that became the production which this page has not read yet: until it has, the draft's text stays on the screen. */
export function justSaved(drafts: Iterable<DraftRow>, agentId: string, production: number): DraftRow | null {
  for (const row of drafts)
    if (row.agent_id === agentId && row.outcome === 'saved' && row.base_version >= production) return row
  return null
}
