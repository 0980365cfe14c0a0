import { memo } from 'react'
import type { FileMessageRow } from '@/api'
import { FileCard } from '@/features/files'
import { useIsDeletionPending } from '../deletions'
import { useChat } from './ChatContext'
import { MessageFrame } from './MessageFrame'

/** A file that somebody has shared. */
export const FileMessage = memo(function FileMessage({
  row,
  continuesAuthor,
}: {
  row: FileMessageRow
  continuesAuthor: boolean
}) {
  const { me, findActor } = useChat()
  const isPending = useIsDeletionPending(row.id)
  const file = isPending ? { ...row.payload, is_deleted: true, deleted_by: me } : row.payload
  return (
    <MessageFrame row={row} continuesAuthor={continuesAuthor} hasActions={!file.is_deleted}>
      <FileCard file={file} deletedBy={findActor(file.deleted_by)?.name ?? ''} />
    </MessageFrame>
  )
})
