import { drafts } from '@/api'
import { textOfError } from '@/lib/errors'
import { chatState, isEnded, upsertRows } from '@/realtime'
import { showToast } from '@/ui/toast'
import { isSame } from '../content'

/** Apply what a person has written and not applied yet. Returns false, and shows why, when no draft is applied then. */
export async function applyDraft(chatId: string, agentId: string, personId: string): Promise<boolean> {
  const draft = [...chatState(chatId).drafts.values()].find(row => row.agent_id === agentId && !isEnded(row))
  if (!draft) return false
  const applied = draft.applied
  if (draft.lock_holder_id !== personId || (applied && isSame(applied, draft.written))) return applied !== null
  try {
    upsertRows(chatId, [await drafts.apply(chatId, agentId, draft.revision)])
    return true
  } catch (error) {
    showToast(textOfError(error))
    return false
  }
}
