import { ApiError, type NoteRow } from '@/api'

/** Returns the stored note from the error of a write that came after another change; null for any other error. */
export function findStoredNote(error: unknown): NoteRow | null {
  if (!(error instanceof ApiError) || error.code !== 'stale_revision') return null
  return (error.data as { note?: NoteRow } | undefined)?.note ?? null
}
