import { memo } from 'react'
import type { FileMessageRow } from '@/api'
import { FileCard } from '@/features/files'
import { MessageFrame } from './MessageFrame'

/** A file that somebody has shared. */
export const FileMessage = memo(function FileMessage({
  row,
  continuesAuthor,
}: {
  row: FileMessageRow
  continuesAuthor: boolean
}) {
  return (
    <MessageFrame row={row} continuesAuthor={continuesAuthor}>
      <FileCard file={row.payload} />
    </MessageFrame>
  )
})
