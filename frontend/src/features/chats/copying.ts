/** What is copied of a message. Pure functions. */
import type { MessageRow, TextMessageRow } from '@/api'
import type { ChatState } from '@/realtime'
import { isOfSubAgent } from './subAgents'

export type CopyFormat = 'text' | 'markdown'

const isCopyable = (row: MessageRow): row is TextMessageRow =>
  row.type === 'TEXT_MESSAGE' && row.payload.text !== '' && !isOfSubAgent(row)

/** Returns the Markdown of the message shown with this id; of a reply, all its texts. Empty if it has no text, as a file. */
export function findMarkdown(chat: ChatState, id: string): string {
  const row = chat.rows.message.get(id)
  if (!row) return ''
  const rows = row.run_id ? chat.log.filter(other => other.run_id === row.run_id) : [row]
  return rows
    .filter(isCopyable)
    .map(({ payload }) => payload.text)
    .join('\n\n')
}
