/** Which messages can be deleted, and which are shown as deleted already. */
import { useCallback } from 'react'
import type { FileMessageRow, MessageRow, TextMessageRow } from '@/api'
import { observable, useSelector } from '@/lib/observable'
import type { ChatState } from '@/realtime'
import { findShownRows, isOfSubAgent } from './subAgents'

export type DeletableRow = TextMessageRow | FileMessageRow

/** The ids of the messages whose deletion can be undone, or is being sent. */
export const pendingDeletions = observable<ReadonlySet<string>>(new Set())

/** Returns whether a message is shown as deleted already. */
export const useIsDeletionPending = (id: string): boolean =>
  useSelector(
    pendingDeletions,
    useCallback((ids: ReadonlySet<string>) => ids.has(id), [id]),
  )

/** Returns whether a person may delete a message: a text or a file of their own, or as an editor any of the conversation. */
export const canDelete = (row: MessageRow | undefined, me: string, isEditor: boolean): row is DeletableRow =>
  (row?.type === 'TEXT_MESSAGE' || row?.type === 'FILE_MESSAGE') &&
  (isEditor || row.author_id === me) &&
  !row.payload.is_deleted &&
  !isOfSubAgent(row) &&
  !(row.type === 'TEXT_MESSAGE' && row.payload.stamp?.compared)

/** Returns the row to delete for the message shown with this id. A reply has the id of its first row; its last text is deleted. */
export const findRowToDelete = (chat: ChatState, id: string, me: string, isEditor: boolean): DeletableRow | undefined =>
  findShownRows(chat, id).findLast((row): row is DeletableRow => canDelete(row, me, isEditor))
