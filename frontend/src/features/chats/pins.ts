/** Pinning messages, and finding the row to pin for what is shown as one message, such as a reply. */
import { type MessageRow, pinMessage, unpinMessage } from '@/api'
import { getErrorText } from '@/lib/errors'
import { type ChatState, upsertRows } from '@/realtime'
import { showToast } from '@/ui/toast'
import { findShownRows, isOfSubAgent } from './subAgents'

/** Returns whether a message can be pinned: a text or a file that is not deleted, not of a sub-agent and not in a comparison. */
export function isPinnable(row: MessageRow): boolean {
  if (isOfSubAgent(row)) return false
  if (row.type === 'FILE_MESSAGE') return !row.payload.is_deleted
  return row.type === 'TEXT_MESSAGE' && !row.payload.is_deleted && !row.payload.stamp?.compared
}

/** Returns the row to pin or unpin for rows that are shown as one: the pinned one, else the last that can be pinned. */
export const chooseRowToPin = (rows: readonly MessageRow[]): MessageRow | undefined =>
  rows.find(row => row.pinned_at) ?? rows.findLast(isPinnable)

/** Returns the row to pin or unpin for the message shown with this id. */
export const findRowToPin = (chat: ChatState, id: string): MessageRow | undefined =>
  chooseRowToPin(findShownRows(chat, id))

/** Pins a message, or unpins a pinned one. */
export async function togglePin(chatId: string, row: Pick<MessageRow, 'id' | 'pinned_at'>): Promise<void> {
  try {
    upsertRows(chatId, [await (row.pinned_at ? unpinMessage : pinMessage)(chatId, row.id)])
  } catch (error) {
    showToast(getErrorText(error))
  }
}
