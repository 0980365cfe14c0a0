/** Reactions to messages: which message of a reply gets them, adding and removing one's own, and which choice is open. */
import { addReaction, type MessageRow, removeReaction } from '@/api'
import { getErrorText } from '@/lib/errors'
import { observable } from '@/lib/observable'
import { type ChatState, upsertRows } from '@/realtime'
import { showToast } from '@/ui/toast'
import { findShownRows, isPinnable } from './pins'

export const usualEmojis = ['👍', '👀', '✅', '🙏', '🎉', '❤️', '😄', '🤔'] as const

/** The message whose choice of emojis is open, and where: at its toolbar or below its text. */
export const openChoice = observable<string | null>(null)
export const getChoiceKey = (place: 'toolbar' | 'line', messageId: string) => `${place} ${messageId}`

/** Returns the row that gets a reaction for rows that are shown as one: the last that has some, else the last that can have some. */
export function chooseRowToReact(rows: readonly MessageRow[]): MessageRow | undefined {
  const possible = rows.filter(isPinnable)
  return possible.findLast(row => row.reactions) ?? possible.at(-1)
}

/** Opens the choice of emojis at the toolbar of the message that is shown with this id. Returns whether it can have reactions. */
export function openChoiceOf(chat: ChatState, id: string): boolean {
  const row = chooseRowToReact(findShownRows(chat, id))
  if (row) openChoice.set(getChoiceKey('toolbar', row.id))
  return row !== undefined
}

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
