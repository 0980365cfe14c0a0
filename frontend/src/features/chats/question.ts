import type { MessageRow, TextMessageRow } from '@/api'
import { getPlaceSeq } from './otherAnswers'
import { isOfSubAgent } from './subAgents'

/** A question that is sent again, and the row of the agent to which it then replies, because a reply wakes its author. */
export interface AskedQuestion {
  question: TextMessageRow
  answer: MessageRow
}

/**
 * Return the message of a person that an agent answered last; null when it has answered none.
 *
 * `messages` are sorted oldest first. An agent's greeting does not count as an answer.
 */
export function findQuestion(
  messages: readonly MessageRow[],
  agentId: string,
  isAgent: (id: string) => boolean,
): AskedQuestion | null {
  const isAnswer = (row: MessageRow) => row.author_id === agentId && row.run_id !== null && !isOfSubAgent(row)
  const last = messages.findLast(isAnswer)
  if (!last) return null
  const question = findQuestionBefore(messages, last, isAgent)
  const text = messages.findLast(row => isAnswer(row) && row.run_id === last.run_id && row.type === 'TEXT_MESSAGE')
  return question && { question, answer: text ?? last }
}

/** Return the message of a person that an answer replies to: the one it quotes, else the last one before its run. */
export function findQuestionBefore(
  messages: readonly MessageRow[],
  answer: MessageRow,
  isAgent: (id: string) => boolean,
): TextMessageRow | null {
  const first = messages.find(row => row.run_id === answer.run_id) ?? answer
  const isQuestion = (row: MessageRow): row is TextMessageRow =>
    row.type === 'TEXT_MESSAGE' && !row.deleted_at && row.author_id !== null && !isAgent(row.author_id)
  const quoted = messages.find(row => row.id === first.reply_to)
  if (quoted && isQuestion(quoted)) return quoted
  return messages.filter(isQuestion).findLast(row => row.seq < getPlaceSeq(first)) ?? null
}
