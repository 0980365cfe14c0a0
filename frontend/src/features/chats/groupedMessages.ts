/** Which system messages are hidden, and which are grouped. Pure functions. */
import type { MessageRow, SystemMessageRow } from '@/api'
import { isWithinMinutes } from '@/lib/time'

/**
 * Returns whether a system message is hidden: the start or the lock of a draft, which the workshop shows, unless an
 * agent caused it (`via`); or the discarding of a draft that was never applied and had changes of one person alone.
 */
export function isHiddenMessage(row: MessageRow): boolean {
  switch (row.type) {
    case 'DRAFT_STARTED':
    case 'LOCK_ACQUIRED':
    case 'LOCK_RELEASED':
      return !row.payload.via
    case 'DRAFT_DISCARDED':
      return row.payload.draft_apply === 0 && !row.payload.authors?.length
    default:
      return false
  }
}

/** Types of which one action may create several messages: adding people, accepting suggestions. */
const groupedTypes = new Set<MessageRow['type']>(['MEMBER_JOINED', 'SUGGESTION_ACCEPTED'])
const GROUP_MINUTES = 2
const BEGINNING_MINUTES = 0.1

const getActorId = (row: SystemMessageRow) => row.payload.actor_id ?? row.author_id
/** Returns whether a person was added by another one: joining by oneself is not grouped. True for other types. */
const isByAnother = (row: SystemMessageRow) => row.type !== 'MEMBER_JOINED' || getActorId(row) !== row.payload.target_id
const isSameTarget = (a: SystemMessageRow, b: SystemMessageRow) =>
  a.type === 'MEMBER_JOINED' || a.payload.target_id === b.payload.target_id

/** Returns whether this is the first message of a chat: its creator joins first. */
export const isBeginningOfChat = (row: MessageRow): boolean => row.type === 'MEMBER_JOINED' && row.seq === 1

/**
 * Returns whether a row belongs to the same action as `rows`. The creation of a chat includes only those who were added
 * within seconds. A message that also states the new response mode of an agent (`mention_only_id`) is never grouped.
 */
export function isSameAction(rows: readonly SystemMessageRow[], row: SystemMessageRow): boolean {
  const [first, before] = [rows[0], rows.at(-1)]
  if (!first || !before) return false
  const isBeginning = isBeginningOfChat(first)
  return (
    before.type === row.type &&
    groupedTypes.has(row.type) &&
    getActorId(before) === getActorId(row) &&
    (isByAnother(before) || isBeginningOfChat(before)) &&
    isByAnother(row) &&
    isSameTarget(before, row) &&
    !before.payload.mention_only_id &&
    !row.payload.mention_only_id &&
    isWithinMinutes(first.created_at, row.created_at, isBeginning ? BEGINNING_MINUTES : GROUP_MINUTES)
  )
}
