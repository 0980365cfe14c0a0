/** Muted chats. Pure functions. */
import type { ListedChatRow } from '@/api'

/** The hour of the next day at which "until tomorrow" ends, in the time zone of the reader. */
const MORNING = 8

type Muted = Pick<ListedChatRow, 'is_muted' | 'muted_until'>

/** Returns whether the reader has muted the chat, and the time has not passed. */
export const isMuted = ({ is_muted, muted_until }: Muted, now = Date.now()): boolean =>
  is_muted && (muted_until === null || Date.parse(muted_until) > now)

/** Returns whether the chat counts as unread: neither muted nor archived. */
export const countsAsUnread = (row: ListedChatRow): boolean => row.unread > 0 && !row.is_archived && !isMuted(row)

/** Returns the first time at which a chat is muted no more, in ms; null if there is none. */
export function findNextEnd(rows: readonly Muted[], now = Date.now()): number | null {
  const ends = rows.map(row => (row.muted_until === null ? 0 : Date.parse(row.muted_until))).filter(end => end > now)
  return ends.length > 0 ? Math.min(...ends) : null
}

export const muteSpans = ['hour', 'tomorrow', 'forGood'] as const
type MuteSpan = (typeof muteSpans)[number]

/** Returns when a chat is muted no more; null: never. */
export function getMuteEnd(span: MuteSpan, now = new Date()): string | null {
  if (span === 'forGood') return null
  if (span === 'hour') return new Date(now.getTime() + 3_600_000).toISOString()
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1, MORNING).toISOString()
}
