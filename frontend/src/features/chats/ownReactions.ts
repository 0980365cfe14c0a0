/** The reader's own reactions, loaded when a message has some or one is added. */
import { addReaction, type MessageRow, removeReaction } from '@/api'
import { getErrorText } from '@/lib/errors'
import { upsertRows } from '@/realtime'
import { showToast } from '@/ui/toast'

export const usualEmojis = ['👍', '👀', '✅', '🙏', '🎉', '❤️', '😄', '🤔'] as const

export const hasReacted = (row: MessageRow, emoji: string, person: string): boolean =>
  row.reactions?.some(reaction => reaction.emoji === emoji && reaction.actor_ids.includes(person)) ?? false

const pending = new Set<string>()

/** Adds a reaction, or removes it if the person has reacted so before. While a request is under way, another one is not sent. */
export async function toggleReaction(row: MessageRow, emoji: string, me: string): Promise<void> {
  const key = `${row.id} ${emoji}`
  if (pending.has(key)) return
  pending.add(key)
  try {
    const send = hasReacted(row, emoji, me) ? removeReaction : addReaction
    upsertRows(row.chat_id, [await send(row.chat_id, row.id, emoji)])
  } catch (error) {
    showToast(getErrorText(error))
  } finally {
    pending.delete(key)
  }
}
