/** Thumbs on answers: which messages can have one, giving one, and which form is open. */
import type { QueryClient } from '@tanstack/react-query'
import { giveThumb, keys, type MessageRow, type TextMessageRow, type ThumbValue, takeBackThumb } from '@/api'
import { getErrorText } from '@/lib/errors'
import { observable } from '@/lib/observable'
import { type ChatState, upsertRows } from '@/realtime'
import { showToast } from '@/ui/toast'
import type { FindActor } from './hooks'
import { findShownRows, isOfSubAgent } from './subAgents'

/** The id of the answer below which the form for a reason is open. */
export const openThumbForm = observable<string | null>(null)

/** Returns whether a message is an answer of an agent: no greeting, and not of a sub-agent or in a comparison. */
export const canHaveThumb = (row: MessageRow | undefined, findActor: FindActor): row is TextMessageRow =>
  row?.type === 'TEXT_MESSAGE' &&
  findActor(row.author_id)?.kind === 'agent' &&
  !row.payload.greeting &&
  !row.payload.is_deleted &&
  !row.payload.stamp?.compared &&
  !isOfSubAgent(row)

/** Returns the answer that is shown as the message with this id. A reply has the id of its first row; its last text is the answer. */
export function findAnswer(chat: ChatState, id: string, findActor: FindActor): TextMessageRow | undefined {
  return findShownRows(chat, id).findLast(other => canHaveThumb(other, findActor)) as TextMessageRow | undefined
}

/** Returns which thumb a person has given on an answer. */
export const getThumb = (row: MessageRow, person: string): ThumbValue | null =>
  row.thumbs?.up?.includes(person) ? 'up' : row.thumbs?.down?.includes(person) ? 'down' : null

/** Calls an answer good or bad, or takes that back if the person has said it before. A bad answer opens the form for a reason. */
export async function toggleThumb(client: QueryClient, row: TextMessageRow, value: ThumbValue, me: string) {
  const isTakenBack = getThumb(row, me) === value
  openThumbForm.set(value === 'down' && !isTakenBack ? row.id : null)
  try {
    const changed = isTakenBack
      ? await takeBackThumb(row.chat_id, row.id)
      : await giveThumb(row.chat_id, row.id, { value })
    upsertRows(row.chat_id, [changed])
    await client.invalidateQueries({ queryKey: keys.ownThumbs(row.chat_id) })
  } catch (error) {
    openThumbForm.set(null)
    showToast(getErrorText(error))
  }
}
