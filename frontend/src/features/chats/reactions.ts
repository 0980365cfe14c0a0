/** Reactions to messages: which row of a reply gets them, and the open choice of emojis. */
import type { MessageRow } from '@/api'
import { observable } from '@/lib/observable'
import { isPinnable } from './pins'

/** The message whose choice of emojis is open, and the element at which it is shown: the message, or a button below it. */
export const openChoice = observable<{ id: string; anchor: Element } | null>(null)

/** Returns the row that gets a reaction for rows that are shown as one: the last that has some, else the last that can have some. */
export function chooseRowToReact(rows: readonly MessageRow[]): MessageRow | undefined {
  const possible = rows.filter(isPinnable)
  return possible.findLast(row => row.reactions) ?? possible.at(-1)
}

/** Opens the choice of emojis for the message that is shown with this id. Returns false if it cannot have reactions. */
export function openChoiceOf(rows: readonly MessageRow[], shownId: string): boolean {
  const id = chooseRowToReact(rows)?.id
  const anchor = document.querySelector(`[data-message="${CSS.escape(shownId)}"]`)
  if (!id || !anchor) return false
  openChoice.set({ id, anchor })
  return true
}
