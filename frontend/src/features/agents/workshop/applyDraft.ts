import { drafts } from '@/api'
import { getErrorText } from '@/lib/errors'
import { chatState, isEnded, upsertRows } from '@/realtime'
import { showToast } from '@/ui/toast'
import { isSameContent } from '../content'

/** Applies a person's draft if it is not applied yet. Returns whether a draft is applied afterwards; shows the error if applying fails. */
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
