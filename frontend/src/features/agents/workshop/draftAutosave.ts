/** Stores the edits of a draft while this person holds the lock. Texts that cannot be stored are kept in this browser. */
import { type RefObject, useCallback, useEffect, useRef, useState } from 'react'
import { ApiError, type DraftRow, type DraftWrite, drafts, type SpecRow } from '@/api'
import { useLatest } from '@/lib/latest'
import { Autosave, type AutosaveState, type LostCode } from '../autosave'
import { isSameContent } from '../content'
import {
  canResume,
  type DraftKey,
  dropLostText,
  explainLoss,
  isStored,
  keepLostText,
  type LostText,
  listLostTexts,
  readPendingEdits,
  storePendingEdits,
  takePendingEdits,
} from './draftBackup'

interface DraftAutosaveInput {
  draftKey: DraftKey
  draft: DraftRow | null
  /** Whether the lock of the draft is held and has not expired. */
  isLocked: boolean
  isLoaded: boolean
  production: SpecRow
  upsertRow(row: DraftRow): void
}

interface DraftAutosave {
  autosave: RefObject<Autosave | null>
  save: AutosaveState | null
  lost: LostText | null
  dropText(id: string): void
  /** Whether this person is editing, or has unsaved edits after the lock expired. */
  isMine: boolean
}

export function useDraftAutosave({
  draftKey,
  draft,
  isLocked,
  isLoaded,
  production,
  upsertRow,
}: DraftAutosaveInput): DraftAutosave {
  const autosave = useRef<Autosave | null>(null)
  const [save, setSave] = useState<AutosaveState | null>(null)
  const [lost, setLost] = useState<LostText[]>(() => listLostTexts(draftKey))
  const hasUnsavedEdits = save !== null && save.status !== 'saved' && !save.lost
  const isMine = draft !== null && draft.lock_holder_id === draftKey.personId && (isLocked || hasUnsavedEdits)
  const draftId = draft?.id ?? null
  const latestDraft = useLatest(draft)

  useEffect(() => {
    const row = latestDraft.current
    if (!isMine || !row || row.id !== draftId) return
    const initial = buildInitialState(draftKey, row)
    if (initial.lost) setLost(initial.lost)
    const newAutosave = new Autosave(initial.state, {
      write: write => storeDraft(draftKey, write),
      onRow: upsertRow,
      onChange: setSave,
      onUnsavedChange: unsaved =>
        storePendingEdits(
          draftKey,
          unsaved && { ...unsaved, draftId: row.id, base_version: getBaseVersion(latestDraft.current, row) },
        ),
      onLost: text => setLost(keepLostText(draftKey, text, getBaseVersion(latestDraft.current, row))),
    })
    autosave.current = newAutosave
    setSave(newAutosave.current)
    // Schedules the request for resumed edits.
    if (newAutosave.current.status === 'dirty') newAutosave.edit(newAutosave.current.content)
    const onHide = () => document.visibilityState === 'hidden' && void newAutosave.flush()
    document.addEventListener('visibilitychange', onHide)
    return () => {
      document.removeEventListener('visibilitychange', onHide)
      const after = latestDraft.current
      const isLockLost = after?.id !== row.id || after.lock_holder_id !== row.lock_holder_id
      if (isLockLost) newAutosave.markLost(getLossCode(row, after), null)
      else void newAutosave.flush()
      newAutosave.stop()
      autosave.current = null
      setSave(null)
    }
  }, [isMine, draftId, draftKey, upsertRow])

  usePendingEditsOfEarlierLoad({ draftKey, draft, isMine, isLoaded, production }, setLost)
  const dropText = useCallback((id: string) => setLost(dropLostText(draftKey, id)), [draftKey])
  return { autosave, save, lost: lost[0] ?? null, dropText, isMine }
}

/** Returns why this person lost the lock. */
function getLossCode(before: DraftRow, now: DraftRow | null): LostCode {
  if (now?.id !== before.id) return 'no_draft'
  return now.lock_holder_id ? 'draft_locked' : 'lock_expired'
}

const getBaseVersion = (now: DraftRow | null, before: DraftRow) => (now?.id === before.id ? now : before).base_version

/**
 * Stores a text. If the lock expired and the draft is unchanged since, the lock is acquired again with the text; if the same
 * text is stored already, it is not sent again.
 */
export async function storeDraft({ chatId, agentId }: DraftKey, write: DraftWrite): Promise<DraftRow> {
  try {
    return await drafts.write(chatId, agentId, write)
  } catch (error) {
    const now = getCurrentDraft(error)
    if (now?.revision === write.revision) return drafts.write(chatId, agentId, { ...write, revision: null })
    if (now && write.content && isSameContent(now.written, write.content)) return now
    throw error
  }
}

/** Returns the current draft from the error `stale_revision`. */
const getCurrentDraft = (error: unknown) =>
  error instanceof ApiError && error.code === 'stale_revision'
    ? (error.data['draft'] as DraftRow | undefined)
    : undefined

/**
 * Builds the initial state. Takes the unsaved edits from before a reload out of the browser's storage: they are resumed, or
 * kept as a lost text if the draft has changed since.
 */
function buildInitialState(draftKey: DraftKey, row: DraftRow): { state: AutosaveState; lost: LostText[] | null } {
  const written = row.written
  const initial = { content: written, revision: row.revision, status: 'saved', problem: null, lost: null } as const
  const pending = takePendingEdits(draftKey)
  if (!pending || isSameContent(pending.content, written)) return { state: initial, lost: null }
  if (canResume(pending, row)) return { state: { ...initial, content: pending.content, status: 'dirty' }, lost: null }
  const code = pending.draftId === row.id ? 'stale_revision' : 'no_draft'
  return {
    state: initial,
    lost: keepLostText(draftKey, { content: pending.content, code, by: null }, pending.base_version),
  }
}

/**
 * While this person is not editing: keeps as a lost text the pending edits (in the browser's storage) that an earlier load of
 * this page could not store, unless they have been stored since.
 */
function usePendingEditsOfEarlierLoad(
  {
    draftKey,
    draft,
    isMine,
    isLoaded,
    production,
  }: Omit<DraftAutosaveInput, 'isLocked' | 'upsertRow'> & { isMine: boolean },
  setLost: (lost: LostText[]) => void,
): void {
  useEffect(() => {
    if (!isLoaded || isMine || !readPendingEdits(draftKey)) return
    const pending = takePendingEdits(draftKey)
    if (!pending || isStored(pending.content, draft) || isSameContent(pending.content, production.content)) return
    const isLockedByOther = draft?.lock_holder_id != null && draft.lock_holder_id !== draftKey.personId
    setLost(
      keepLostText(
        draftKey,
        { content: pending.content, ...explainLoss(pending, draft, isLockedByOther) },
        pending.base_version,
      ),
    )
  }, [draftKey, draft, isMine, isLoaded, production, setLost])
}
