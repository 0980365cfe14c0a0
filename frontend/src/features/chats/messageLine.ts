/** The start of a message, to be shown in one line. */
import type { MessageRow } from '@/api'
import { t } from '@/lib/language'
import { type FindName, replaceHandlesByNames } from '@/ui/prose/mentions'

/** The maximal length of the start, in characters. */
const MAX_LENGTH = 400

/** Returns the text of a message, or an empty string if its type has none. What is left of a deleted one says so. */
function getMessageText(row: MessageRow): string {
  if (row.type === 'FILE_MESSAGE') return row.payload.name
  if (row.type === 'TEXT_MESSAGE' && row.payload.is_deleted) return t('deletedMessage')
  return 'text' in row.payload ? (row.payload.text ?? '') : ''
}

/** Returns the start of a message's text, for one line (`.cut`), with names instead of handles. It may have line breaks. */
export const formatMessageLine = (row: MessageRow, findName: FindName): string =>
  replaceHandlesByNames(getMessageText(row), findName).slice(0, MAX_LENGTH)
