import { ApiError, type NoteRow } from '@/api'

/** Returns the stored note of a refusal because the note was changed meanwhile, or null. */
export function findStoredNote(error: unknown): NoteRow | null {
  if (!(error instanceof ApiError) || error.code !== 'stale_revision') return null
  return (error.data as { note?: NoteRow } | undefined)?.note ?? null
}
