/** Asking production and the draft the same, and voting which is better. */
import { answerOf, rest } from '../client'
import type { BodyOf, ComparisonPayload } from '../types'

export const comparisons = {
  /** `id` is made here: asked twice, it is one. `revision` null: what is applied, whatever has been written since. */
  start: (
    chatId: string,
    agentId: string,
    body: BodyOf<'/api/v1/chats/{chat_id}/agents/{agent_id}/comparisons', 'post'>,
  ) =>
    answerOf(
      rest.POST('/api/v1/chats/{chat_id}/agents/{agent_id}/comparisons', {
        params: { path: { chat_id: chatId, agent_id: agentId } },
        body,
      }),
    ),
  /** Null takes the vote back. */
  vote: (chatId: string, id: string, choice: ComparisonPayload['votes'][number]['choice'] | null) =>
    answerOf(
      rest.POST('/api/v1/chats/{chat_id}/comparisons/{comparison_id}/vote', {
        params: { path: { chat_id: chatId, comparison_id: id } },
        body: { choice },
      }),
    ),
}
