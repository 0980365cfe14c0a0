/** Asking production and the draft the same, and voting which is better. */
import { post } from '../client'
import type { ComparisonPayload, MessageRow } from '../types'

/** `id` is made here: asked twice, it is one. `revision` null: what is applied, whatever has been written since. */
export interface NewComparison {
  id: string
  text: string
  revision: number | null
}

export const comparisons = {
  start: (chatId: string, agentId: string, comparison: NewComparison) =>
    post<MessageRow>(`/chats/${chatId}/agents/${agentId}/comparisons`, comparison),
  /** Null takes the vote back. */
  vote: (chatId: string, id: string, choice: ComparisonPayload['votes'][number]['choice'] | null) =>
    post<MessageRow>(`/chats/${chatId}/comparisons/${id}/vote`, { choice }),
}
