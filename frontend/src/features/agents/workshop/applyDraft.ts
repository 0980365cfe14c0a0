import { drafts } from '@/api'
import { getErrorText } from '@/lib/errors'
import { chatState, isEnded, upsertRows } from '@/realtime'
import { showToast } from '@/ui/toast'
import { isSameContent } from '../content'

/**
 * Applies the agent's draft of the chat, if this person has its lock and it changed since it was applied.
 * Returns false if no draft is applied, or if applying failed; the error is shown as a toast.
 */
export async function applyDraft(chatId: string, agentId: string, personId: string): Promise<boolean> {
  const draft = [...chatState(chatId).drafts.values()].find(row => row.agent_id === agentId && !isEnded(row))
  if (!draft) return false
  const applied = draft.applied
  if (draft.lock_holder_id !== personId || (applied && isSameContent(applied, draft.written))) return applied !== null
  try {
    upsertRows(chatId, [await drafts.apply(chatId, agentId, draft.revision)])
    return true
  } catch (error) {
    showToast(getErrorText(error))
    return false
  }
}
