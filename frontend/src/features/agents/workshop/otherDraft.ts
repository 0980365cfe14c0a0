/** The draft that a person writes somewhere else: one at a time. */
import { ApiError, drafts } from '@/api'

export interface OtherDraft {
  chatId: string
  chatTitle: string
  agentId: string
  agentName: string
  revision: number
}

/** What an answer says of the draft that stands in the way; null for another answer. */
export function findOtherDraft(error: unknown): OtherDraft | null {
  if (!(error instanceof ApiError) || error.code !== 'other_draft_locked' || !error.data['chat_title']) return null
  const field = (name: string) => String(error.data[name] ?? '')
  return {
    chatId: field('chat_id'),
    chatTitle: field('chat_title'),
    agentId: field('agent_id'),
    agentName: field('agent_name'),
    revision: Number(error.data['revision']),
  }
}

/** Release the lock. The text stays. */
export const closeDraft = (draft: OtherDraft) => drafts.release(draft.chatId, draft.agentId, draft.revision)
