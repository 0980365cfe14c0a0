/** What is copied of a message. Pure functions. */
import type { MessageRow, TextMessageRow } from '@/api'
import type { ChatState } from '@/realtime'
import { findShownRows, isOfSubAgent } from './subAgents'

export type CopyFormat = 'text' | 'markdown'

const isCopyable = (row: MessageRow): row is TextMessageRow =>
  row.type === 'TEXT_MESSAGE' && row.payload.text !== '' && !isOfSubAgent(row)

/** Returns the Markdown of the message shown with this id; of a reply, all its texts. Empty if it has no text, as a file. */
export function findMarkdown(chat: ChatState, id: string): string {
  return findShownRows(chat, id)
    .filter(isCopyable)
    .map(({ payload }) => payload.text)
    .join('\n\n')
}
