/** Files that a person has attached to a message that is being written: they are uploaded at once, and sent with it. */
import { addUpload, forgetUpload, listUploads, startUpload } from '@/features/files'
import type { SentFile } from './outbox'

export const MAX_ATTACHMENTS = 10

/** Uploads files to a chat. Returns how many were left out because a message has at most `MAX_ATTACHMENTS`. */
export function attachFiles(chatId: string, files: readonly File[]): number {
  const accepted = files.slice(0, Math.max(0, MAX_ATTACHMENTS - listUploads({ chatId }).length))
  for (const file of accepted) void startUpload(addUpload({ chatId }, file))
  return files.length - accepted.length
}

/** Removes the uploaded attachments of a chat, and returns them for the message that is sent with them. */
export function takeReadyAttachments(chatId: string): SentFile[] {
  const ready = listUploads({ chatId }).filter(upload => upload.state === 'ready')
  for (const { id } of ready) forgetUpload(id)
  return ready.map(({ id, file }) => ({ id, name: file.name }))
}
