import { drafts } from '@/api'
import { getErrorText } from '@/lib/errors'
import { chatState, isEnded, upsertRows } from '@/realtime'
import { showToast } from '@/ui/toast'
import { isSameContent } from '../content'
import type { DraftActions } from './actions'
import type { Workshop } from './draftSession'

/**
 * Applies the agent's draft of the chat, if this person has its lock and it changed since it was applied.
 * Returns false if no draft is applied, or if applying failed; the error is shown as a toast.
 */
export async function applyDraft(chatId: string, agentId: string, personId: string): Promise<boolean> {
  const draft = [...chatState(chatId).rows.draft.values()].find(row => row.agent_id === agentId && !isEnded(row))
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

/** As `applyDraft`, for a draft that is open in the workshop: what this person is writing is stored first. */
export async function applyOpenDraft(
  chatId: string,
  agentId: string,
  personId: string,
  { isMine, applied, content }: Pick<Workshop, 'isMine' | 'applied' | 'content'>,
  actions: Pick<DraftActions, 'apply'>,
): Promise<boolean> {
  if (!isMine) return applyDraft(chatId, agentId, personId)
  return (applied !== null && isSameContent(applied, content)) || (await actions.apply()) !== null
}
