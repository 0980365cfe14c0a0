/** The rows of comparisons among those of a chat. Pure functions. */
import type { ComparisonPayload, ComparisonRow, MessageRow, Stamp, TextMessageRow } from '@/api'
import { type ChatState, isEnded } from '@/realtime'

/** Returns whether a row is a comparison in a format that this client knows; a newer server may send another. */
export function isComparison(row: MessageRow): row is ComparisonRow {
  if (row.type !== 'COMPARISON') return false
  const { production, draft, votes }: Partial<ComparisonPayload> = row.payload
  return typeof production?.run_id === 'string' && typeof draft?.run_id === 'string' && Array.isArray(votes)
}

/** Returns the id of the run of a message, or an empty text. A message about the end of a run has it in the payload. */
export const getRunId = (row: MessageRow) => row.run_id ?? ('run_id' in row.payload ? row.payload.run_id : null) ?? ''
export const getStamp = (row: MessageRow): Stamp | null => ('stamp' in row.payload ? row.payload.stamp : null) ?? null

/** Lists the ids of the runs that answer in a comparison, also if the message of the comparison is on a page that is not loaded. */
export function listComparedRuns(messages: readonly MessageRow[]): string[] {
  return messages.flatMap(row => {
    if (!isComparison(row)) return getStamp(row)?.compared && row.run_id ? [row.run_id] : []
    const { production, draft } = row.payload
    return [production, draft].flatMap(side => [side.run_id, ...(side.earlier ?? [])])
  })
}

/** Groups the rows of the runs that answer in a comparison. They are shown only within the comparison. */
export function groupAnswers(messages: readonly MessageRow[]): ReadonlyMap<string, readonly MessageRow[]> {
  const answers = new Map<string, MessageRow[]>(listComparedRuns(messages).map(id => [id, []]))
  if (answers.size > 0) for (const row of messages) answers.get(getRunId(row))?.push(row)
  return answers
}

/** Returns whether this person can try a draft of the agent: an applied one, or one that they are editing. */
export const hasDraft = (chat: ChatState, agentId: string | null, me: string): boolean =>
  [...chat.rows.draft.values()].some(
    draft => draft.agent_id === agentId && !isEnded(draft) && (draft.applied !== null || draft.lock_holder_id === me),
  )

/** Returns the text to compare at the message shown with this id: of a person, or the last one of an agent that has a draft. */
export function findRowToCompare(
  chat: ChatState,
  id: string,
  me: string,
  isPerson: (id: string | null) => boolean,
): TextMessageRow | undefined {
  const row = chat.rows.message.get(id)
  if (!row) return undefined
  const rows = row.run_id ? chat.log.filter(other => other.run_id === row.run_id && !other.metadata) : [row]
  const text = rows.findLast((other): other is TextMessageRow => other.type === 'TEXT_MESSAGE' && !other.deleted_at)
  const isComparable = text?.run_id ? hasDraft(chat, text.author_id, me) : isPerson(text?.author_id ?? null)
  return isComparable ? text : undefined
}
