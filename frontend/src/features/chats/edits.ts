/** Editing one's own messages: which can be edited, and the form that is open. */
import type { MessageRow, TextMessageRow } from '@/api'
import { observable } from '@/lib/observable'
import type { ChatState } from '@/realtime'
import { pendingDeletions } from './deletions'

/** The form that edits a message. It is kept here, because a message that is scrolled out of view is unmounted. */
export interface OpenEdit {
  id: string
  /** The text as it is written in the form; null until it is changed. */
  text: string | null
  /** `edited_at` of the message as its author has read it. */
  editedAt: string | null
  /** The agents that the edit mentions in addition, and that its author does not want to wake. */
  unwoken: readonly string[]
  /** Why it could not be stored. */
  error: string | null
}

export const openEdit = observable<OpenEdit | null>(null)

/** Returns whether a message is a text that this person has written and may edit. */
export const isOwnText = (row: MessageRow | undefined, me: string): row is TextMessageRow =>
  row?.type === 'TEXT_MESSAGE' && row.author_id === me && !row.run_id && !row.metadata && !row.payload.is_deleted

/** Returns the last loaded text that this person has written and is not deleting. */
export const findLastOwnText = ({ log }: ChatState, me: string): TextMessageRow | undefined =>
  log.findLast((row): row is TextMessageRow => isOwnText(row, me) && !pendingDeletions.get().has(row.id))

/** Edits that were left for another message, with what is written in them, by the id of their message. */
const left = new Map<string, OpenEdit>()

/** Opens the form of a message, with what was written in it before that of another message was opened. */
export function openEditOf(row: TextMessageRow): void {
  const open = openEdit.get()
  if (open?.id === row.id) return
  if (open && open.text !== null) left.set(open.id, open)
  openEdit.set(left.get(row.id) ?? { id: row.id, text: null, editedAt: row.edited_at, unwoken: [], error: null })
  left.delete(row.id)
}
