/** How far the agents of a chat have read: the message after which a mark of each is shown. */
import { createContext, useMemo } from 'react'
import { sameItems } from '@/lib/sameItems'
import { type ChatState, isEnded, useChatSelector } from '@/realtime'

/** The ids of the agents that have read up to a message, by its id. */
type ReadMarks = ReadonlyMap<string, readonly string[]>

export const ReadMarksContext = createContext<ReadMarks>(new Map())

/** How many of the newest messages are searched; a mark further up is not shown. */
const MAX_SEARCHED = 300

/** Returns `<message id> <agent id>` for each agent: the last message by another author, outside of replies, that it has read. */
export function selectReadMarks(chat: ChatState): string[] {
  const newest = chat.log.slice(-MAX_SEARCHED)
  const marks: string[] = []
  for (const participant of chat.rows.participant.values()) {
    const { actor, last_read_seq } = participant
    if (actor.kind !== 'agent' || last_read_seq == null || isEnded(participant)) continue
    const read = newest.findLast(
      message =>
        message.seq <= last_read_seq &&
        !message.run_id &&
        message.author_id !== actor.id &&
        (message.type === 'TEXT_MESSAGE' || message.type === 'FILE_MESSAGE'),
    )
    if (read) marks.push(`${read.id} ${actor.id}`)
  }
  return marks
}

export function useReadMarks(chatId: string): ReadMarks {
  const marks = useChatSelector(chatId, selectReadMarks, sameItems)
  return useMemo(() => {
    const byMessage = new Map<string, string[]>()
    for (const mark of marks) {
      const [message = '', agent = ''] = mark.split(' ')
      byMessage.set(message, [...(byMessage.get(message) ?? []), agent])
    }
    return byMessage
  }, [marks])
}
