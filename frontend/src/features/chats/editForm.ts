/** The form that edits a message: changing and sending it. */
import { ApiError, editMessage, type TextMessageRow } from '@/api'
import { getErrorText } from '@/lib/errors'
import { chatState, upsertRows } from '@/realtime'
import { type OpenEdit, openEdit } from './edits'

export function changeOpenEdit(change: Partial<OpenEdit>): void {
  const edit = openEdit.get()
  if (edit) openEdit.set({ ...edit, ...change })
}

/** Stores the text, and closes the form. If that fails, the form stays open with its text and says why. */
export async function saveEdit(row: TextMessageRow, text: string, wakeIds: readonly string[]): Promise<void> {
  const edit = openEdit.get()
  if (edit?.id !== row.id) return
  try {
    const edited = await editMessage(row.id, { text, edited_at: edit.editedAt, wake_ids: [...wakeIds] })
    upsertRows(row.chat_id, [edited])
    if (openEdit.get()?.id === row.id) openEdit.set(null)
  } catch (error) {
    if (openEdit.get()?.id !== row.id) return
    // The author has seen now that the message has another text, so the next attempt replaces it.
    const isOutdated = error instanceof ApiError && error.status === 409
    const latest = chatState(row.chat_id).rows.message.get(row.id) ?? row
    changeOpenEdit({ error: getErrorText(error), ...(isOutdated ? { editedAt: latest.edited_at } : {}) })
  }
}
