/** Comparisons: production and the draft answer the same message, and people vote for the better reply. */
import { rest, unwrap } from '../client'
import type { BodyOf, ComparisonPayload } from '../types'

export const comparisons = {
  /** The client generates `id`, so a repeated request starts one comparison. `revision` null: the applied draft is compared. */
  start: (
    chatId: string,
    agentId: string,
    body: BodyOf<'/api/v1/chats/{chat_id}/agents/{agent_id}/comparisons', 'post'>,
  ) =>
    unwrap(
      rest.POST('/api/v1/chats/{chat_id}/agents/{agent_id}/comparisons', {
        params: { path: { chat_id: chatId, agent_id: agentId } },
        body,
      }),
    ),
  /** Votes for a reply; null withdraws the vote. */
  vote: (chatId: string, id: string, choice: ComparisonPayload['votes'][number]['choice'] | null) =>
    unwrap(
      rest.POST('/api/v1/chats/{chat_id}/comparisons/{comparison_id}/vote', {
        params: { path: { chat_id: chatId, comparison_id: id } },
        body: { choice },
      }),
    ),
}
