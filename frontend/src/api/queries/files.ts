import { buildUrl, rest, unwrap, upload } from '../client'
import type { FileRow } from '../types'

export const deleteFile = (id: string) => rest.DELETE('/api/v1/files/{file_id}', { params: { path: { file_id: id } } })

/** Shows an uploaded file in its chat. */
export const postFile = (id: string, wake: 'auto' | 'nobody', replyTo?: string) =>
  unwrap(
    rest.POST('/api/v1/files/{file_id}/post', {
      params: { path: { file_id: id } },
      body: { wake, ...(replyTo ? { reply_to: replyTo } : {}) },
    }),
  )

/** A chat, or a workspace. */
export interface UploadTarget {
  chatId?: string | undefined
  workspaceId?: string | undefined
}

/** Uploads a file under an id of the client: uploading it again under the same id changes nothing. Raises `ApiError`. */
export function uploadFile(
  { chatId, workspaceId }: UploadTarget,
  id: string,
  file: File,
  onProgress: (share: number) => void,
  signal: AbortSignal,
): Promise<FileRow> {
  const form = new FormData()
  form.set('id', id)
  form.set('file', file, file.name)
  const path = chatId ? `/api/v1/chats/${chatId}/files` : `/api/v1/workspaces/${workspaceId}/files`
  return upload<FileRow>(path, form, onProgress, signal)
}

export const contentUrlOf = (id: string) =>
  buildUrl('/api/v1/files/{file_id}/content', { path: { file_id: id }, query: {} })
export const thumbnailUrlOf = (id: string) =>
  buildUrl('/api/v1/files/{file_id}/thumbnail', { path: { file_id: id }, query: {} })
