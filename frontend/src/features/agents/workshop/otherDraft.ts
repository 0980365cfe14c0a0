/** Another draft that the person is editing; a person can lock one draft at a time. */
import { ApiError, drafts } from '@/api'

export interface OtherDraft {
  chatId: string
  chatTitle: string
  agentId: string
  agentName: string
  revision: number
}

/** Returns the other draft from the error `other_draft_locked`; null for any other error. */
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

/** Releases the lock of the other draft. Its text is kept. */
export const releaseOtherDraft = (draft: OtherDraft) => drafts.release(draft.chatId, draft.agentId, draft.revision)
