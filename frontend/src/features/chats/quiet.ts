/** Which system rows have a line of their own, and which stand together in one. Pure. */
import type { MessageRow, SystemMessageRow } from '@/api'
import { isSameMoment } from '@/lib/time'

/** Whether a row concerns nobody but its actor: a step of a draft, which the workshop shows, or a draft that never answered here. */
export function isNoise(row: MessageRow): boolean {
  switch (row.type) {
    case 'DRAFT_STARTED':
    case 'LOCK_ACQUIRED':
    case 'LOCK_RELEASED':
      return !row.payload.via
    case 'DRAFT_DISCARDED':
      return row.payload.draft_apply === 0
    default:
      return false
  }
}

/** One act that left several rows: people who were added together, suggestions that were accepted at once. */
const acts = new Set<MessageRow['type']>(['MEMBER_JOINED', 'SUGGESTION_ACCEPTED'])
const ACT_MINUTES = 2
const BEGINNING_MINUTES = 0.1

const doerOf = (row: SystemMessageRow) => row.payload.actor_id ?? row.author_id
/** Who came by themselves did not come by one act. */
const isByAnother = (row: SystemMessageRow) => row.type !== 'MEMBER_JOINED' || doerOf(row) !== row.payload.target_id
const isSameTarget = (a: SystemMessageRow, b: SystemMessageRow) =>
  a.type === 'MEMBER_JOINED' || a.payload.target_id === b.payload.target_id

/** Whether this is the first line of a chat: whoever starts it comes in first. */
export const isBeginningOfChat = (row: MessageRow): boolean => row.type === 'MEMBER_JOINED' && row.seq === 1

/** Whether a row belongs to the act that these rows stand for. Only who comes at once is there from the beginning of a chat. */
export function isSameAct(rows: readonly SystemMessageRow[], row: SystemMessageRow): boolean {
  const [first, before] = [rows[0], rows.at(-1)]
  if (!first || !before) return false
  const isBeginning = isBeginningOfChat(first)
  return (
    before.type === row.type &&
    acts.has(row.type) &&
    doerOf(before) === doerOf(row) &&
    (isByAnother(before) || isBeginningOfChat(before)) &&
    isByAnother(row) &&
    isSameTarget(before, row) &&
    !before.payload.wake_id &&
    !row.payload.wake_id &&
    isSameMoment(first.created_at, row.created_at, isBeginning ? BEGINNING_MINUTES : ACT_MINUTES)
  )
}
