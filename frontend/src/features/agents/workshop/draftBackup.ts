/** Unsaved and lost texts of drafts, kept in this browser: they survive a reload, a crash and a sign-out. */
import type { DraftRow, SpecContent } from '@/api'
import { newId } from '@/lib/ids'
import { readStored, writeStored } from '@/lib/storage'
import type { LostCode, LostEdit, UnsavedText } from '../autosave'
import { isSameContent } from '../content'

/** The person, chat and agent of a text. The person is included, because the next person on this browser must not see the text. */
export interface DraftKey {
  personId: string
  chatId: string
  agentId: string
}

export interface PendingEdits extends UnsavedText {
  draftId: string
  base_version: number
  /** The id of the tab in which it is edited. */
  tab: string
}

/**
 * A text that could not be stored. The newest `MAX_LOST` are kept until they are dropped. A suggestion that is made of such a
 * text gets the id of the text, so that only one is made.
 */
export interface LostText extends LostEdit {
  id: string
  base_version: number
}

const tab = newId()
const MAX_LOST = 5
const pendingKey = ({ personId, chatId, agentId }: DraftKey) => `atelier.writing.${personId}.${chatId}.${agentId}`
const lostKey = (draftKey: DraftKey) => `${pendingKey(draftKey)}.lost`

export const readPendingEdits = (draftKey: DraftKey) => readStored<PendingEdits | null>(pendingKey(draftKey), null)

/** Stores the unsaved edits. Null deletes them, unless they belong to another tab. */
export function storePendingEdits(draftKey: DraftKey, pending: Omit<PendingEdits, 'tab'> | null): void {
  if (pending) writeStored(pendingKey(draftKey), { ...pending, tab })
  else if (readPendingEdits(draftKey)?.tab === tab) writeStored(pendingKey(draftKey), null)
}

export const listLostTexts = (draftKey: DraftKey) => readStored<LostText[]>(lostKey(draftKey), [])

/** Keeps a lost text; the same text is kept once. Returns all lost texts, newest first. */
export function keepLostText(draftKey: DraftKey, lost: LostEdit, base_version: number): LostText[] {
  const others = listLostTexts(draftKey).filter(other => !isSameContent(other.content, lost.content))
  const all = [{ ...lost, base_version, id: newId() }, ...others].slice(0, MAX_LOST)
  writeStored(lostKey(draftKey), all)
  return all
}

export function dropLostText(draftKey: DraftKey, id: string): LostText[] {
  const rest = listLostTexts(draftKey).filter(lost => lost.id !== id)
  writeStored(lostKey(draftKey), rest.length ? rest : null)
  return rest
}

/** Removes the unsaved edits from the browser's storage and returns them. */
export function takePendingEdits(draftKey: DraftKey): PendingEdits | null {
  const pending = readPendingEdits(draftKey)
  writeStored(pendingKey(draftKey), null)
  return pending
}

/** Returns whether unsaved edits can be resumed: the draft is unchanged, or has changed only by the last request. */
export function canResume(pending: PendingEdits, row: DraftRow): boolean {
  if (pending.draftId !== row.id) return false
  if (pending.revision === row.revision) return true
  const hasArrived = pending.sent !== null && isSameContent(pending.sent, row.written)
  return hasArrived && row.revision === pending.revision + 1
}

/** Returns whether the text is stored already. */
export const isStored = (content: SpecContent, row: DraftRow | null) =>
  row !== null && isSameContent(content, row.written)

/** Explains why unsaved edits cannot be resumed. */
export function explainLoss(
  pending: PendingEdits,
  row: DraftRow | null,
  isLockedByOther: boolean,
): Omit<LostEdit, 'content'> {
  const code: LostCode = row?.id !== pending.draftId ? 'no_draft' : isLockedByOther ? 'draft_locked' : 'lock_expired'
  return { code, by: null }
}
