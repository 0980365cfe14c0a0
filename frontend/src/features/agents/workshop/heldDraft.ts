/** The draft that a person writes somewhere else: one at a time. */
import { ApiError, drafts } from '@/api'

export interface HeldDraft {
  chatId: string
  chatTitle: string
  agentId: string
  agentName: string
  revision: number
}

/** What an answer says of the draft that stands in the way; null for another answer. */
export function findHeldDraft(error: unknown): HeldDraft | null {
  if (!(error instanceof ApiError) || error.code !== 'holding_another' || !error.data['chat_title']) return null
  const said = (name: string) => String(error.data[name] ?? '')
  return {
    chatId: said('chat_id'),
    chatTitle: said('chat_title'),
    agentId: said('agent_id'),
    agentName: said('agent_name'),
    revision: Number(error.data['revision']),
  }
}

/** Ends the hold. What is written there stays. */
export const closeDraft = (held: HeldDraft) => drafts.release(held.chatId, held.agentId, held.revision)
