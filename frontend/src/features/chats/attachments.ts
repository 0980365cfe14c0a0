/** Files that a person has attached to a message that is being written: they are uploaded at once, and sent with it. */
import { useMemo } from 'react'
import { ApiError, deleteFile, type ErrorCode, uploadFile } from '@/api'
import { newId } from '@/lib/ids'
import { observable, useSelector } from '@/lib/observable'
import { sameItems } from '@/lib/sameItems'
import type { SentFile } from './outbox'

export interface Attachment {
  id: string
  chatId: string
  file: File
  /** The share that was sent, from 0 to 1. */
  progress: number
  state: 'uploading' | 'ready' | 'failed'
  error: ErrorCode | null
  /** The address of a picture's preview in this page. */
  preview: string | null
}

export const MAX_ATTACHMENTS = 10

const attachments = observable<readonly Attachment[]>([])
const uploads = new Map<string, AbortController>()

export function useAttachments(chatId: string): readonly Attachment[] {
  const ofChat = useMemo(() => (all: readonly Attachment[]) => all.filter(each => each.chatId === chatId), [chatId])
  return useSelector(attachments, ofChat, sameItems)
}

function update(id: string, change: Partial<Attachment>): void {
  attachments.set(attachments.get().map(each => (each.id === id ? { ...each, ...change } : each)))
}

function forget(id: string): void {
  const attachment = attachments.get().find(each => each.id === id)
  if (attachment?.preview) URL.revokeObjectURL(attachment.preview)
  uploads.delete(id)
  attachments.set(attachments.get().filter(each => each.id !== id))
}

/** Uploads files to a chat. Returns how many were left out because a message has at most `MAX_ATTACHMENTS`. */
export function attachFiles(chatId: string, files: readonly File[]): number {
  const count = attachments.get().filter(each => each.chatId === chatId).length
  const accepted = files.slice(0, Math.max(0, MAX_ATTACHMENTS - count))
  for (const file of accepted) {
    const preview = file.type.startsWith('image/') ? URL.createObjectURL(file) : null
    const id = newId()
    attachments.set([...attachments.get(), { id, chatId, file, progress: 0, state: 'uploading', error: null, preview }])
    void startUpload(id)
  }
  return files.length - accepted.length
}

/** Uploads a file that failed once more: under the same id, so that it is not stored twice. */
export async function startUpload(id: string): Promise<void> {
  const attachment = attachments.get().find(each => each.id === id)
  if (!attachment) return
  const control = new AbortController()
  uploads.set(id, control)
  update(id, { state: 'uploading', error: null, progress: 0 })
  try {
    await uploadFile(
      { chatId: attachment.chatId },
      id,
      attachment.file,
      progress => update(id, { progress }),
      control.signal,
    )
    update(id, { state: 'ready', progress: 1 })
  } catch (error) {
    if (control.signal.aborted) return
    update(id, { state: 'failed', error: error instanceof ApiError ? error.code : 'unreachable' })
  }
}

/** Takes an attachment off again. What was uploaded is deleted; the server deletes what this does not reach within a day. */
export function removeAttachment(id: string): void {
  const attachment = attachments.get().find(each => each.id === id)
  uploads.get(id)?.abort()
  forget(id)
  if (attachment?.state === 'ready') deleteFile(id).catch(() => undefined)
}

/** Removes the uploaded attachments of a chat, and returns them for the message that is sent with them. */
export function takeReadyAttachments(chatId: string): SentFile[] {
  const ready = attachments.get().filter(each => each.chatId === chatId && each.state === 'ready')
  for (const { id } of ready) forget(id)
  return ready.map(({ id, file }) => ({ id, name: file.name }))
}
