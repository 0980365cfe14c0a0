/** The uploads of this page: those under way, done or failed. `forgetUpload` or `cancelUpload` removes them. */
import { useMemo } from 'react'
import { deleteFile, type UploadTarget, uploadFile } from '@/api'
import { newId } from '@/lib/ids'
import { observable, useSelector } from '@/lib/observable'
import { sameItems } from '@/lib/sameItems'

export interface FileUpload {
  id: string
  target: UploadTarget
  file: File
  /** The share that was sent, from 0 to 1. */
  progress: number
  state: 'uploading' | 'ready' | 'failed'
  error: unknown
  /** The URL of a picture's preview in this page. */
  preview: string | null
}

const uploads = observable<readonly FileUpload[]>([])
const controls = new Map<string, AbortController>()

const isOf = (target: UploadTarget) => (upload: FileUpload) =>
  upload.target.chatId === target.chatId && upload.target.workspaceId === target.workspaceId

export const listUploads = (target: UploadTarget): FileUpload[] => uploads.get().filter(isOf(target))

export function useUploads({ chatId, workspaceId }: UploadTarget): readonly FileUpload[] {
  const ofTarget = useMemo(
    () => (all: readonly FileUpload[]) => all.filter(isOf({ chatId, workspaceId })),
    [chatId, workspaceId],
  )
  return useSelector(uploads, ofTarget, sameItems)
}

/** Adds an upload that is not started. Returns its id, which is that of the file. */
export function addUpload(target: UploadTarget, file: File): string {
  const preview = target.chatId && file.type.startsWith('image/') ? URL.createObjectURL(file) : null
  const id = newId()
  uploads.set([...uploads.get(), { id, target, file, progress: 0, state: 'uploading', error: null, preview }])
  return id
}

function update(id: string, change: Partial<FileUpload>): void {
  uploads.set(uploads.get().map(upload => (upload.id === id ? { ...upload, ...change } : upload)))
}

/** Uploads a file, or once more one that failed: under the same id, so that it is not stored twice. Returns whether it is done. */
export async function startUpload(id: string): Promise<boolean> {
  const upload = uploads.get().find(upload => upload.id === id)
  if (!upload) return false
  const control = new AbortController()
  controls.set(id, control)
  update(id, { state: 'uploading', error: null, progress: 0 })
  let isDone = true
  try {
    await uploadFile(upload.target, id, upload.file, progress => update(id, { progress }), control.signal)
    update(id, { state: 'ready', progress: 1 })
  } catch (error) {
    isDone = false
    update(id, { state: 'failed', error })
  }
  const isCancelled = !uploads.get().some(upload => upload.id === id)
  if (isCancelled) deleteIfStored(id)
  return isDone && !isCancelled
}

/** Deletes the file of a cancelled upload. If this fails, a file of a workspace stays; one of a chat is deleted a day later. */
function deleteIfStored(id: string): void {
  deleteFile(id).catch(() => undefined)
}

/** Removes an upload that is done from the list. Its file stays. */
export function forgetUpload(id: string): void {
  const upload = uploads.get().find(upload => upload.id === id)
  if (upload?.preview) URL.revokeObjectURL(upload.preview)
  controls.delete(id)
  uploads.set(uploads.get().filter(upload => upload.id !== id))
}

/** Cancels an upload, and deletes its file: the server may have stored it even if no answer has arrived, or an error. */
export function cancelUpload(id: string): void {
  const upload = uploads.get().find(upload => upload.id === id)
  const control = controls.get(id)
  forgetUpload(id)
  if (upload?.state !== 'uploading') deleteIfStored(id)
  // Once all is sent, the file can be deleted only after the answer, for which `startUpload` waits.
  else if (upload.progress < 1) control?.abort()
}
