/** Storing what is typed, for as long as this person writes; what cannot be stored is kept in this browser. */
import { type RefObject, useCallback, useEffect, useRef, useState } from 'react'
import { ApiError, type DraftRow, type DraftWrite, drafts, type SpecRow } from '@/api'
import { useLatest } from '@/lib/latest'
import { Autosave, type AutosaveState, type LostCode } from '../autosave'
import { contentOf, isSame } from '../content'
import {
  continues,
  type DraftAddress,
  forgetLost,
  isStored,
  type LostText,
  listLost,
  readPending,
  setAside,
  takePending,
  whyLost,
  writePending,
} from './draftBackup'

interface DraftAutosaveInput {
  address: DraftAddress
  draft: DraftRow | null
  /** The draft is locked by somebody. */
  isOpen: boolean
  isLoaded: boolean
  production: SpecRow
  learnRow(row: DraftRow): void
}

interface DraftAutosave {
  autosave: RefObject<Autosave | null>
  save: AutosaveState | null
  lost: LostText | null
  forget(id: string): void
  /** This person writes now, or still has something to store after their time ran out. */
  isMine: boolean
}

export function useDraftAutosave({
  address,
  draft,
  isOpen,
  isLoaded,
  production,
  learnRow,
}: DraftAutosaveInput): DraftAutosave {
  const autosave = useRef<Autosave | null>(null)
  const [save, setSave] = useState<AutosaveState | null>(null)
  const [lost, setLost] = useState<LostText[]>(() => listLost(address))
  const hasMore = save !== null && save.status !== 'saved' && !save.lost
  const isMine = draft !== null && draft.lock_holder_id === address.personId && (isOpen || hasMore)
  const draftId = draft?.id ?? null
  const latest = useLatest(draft)

  useEffect(() => {
    const row = latest.current
    if (!isMine || !row || row.id !== draftId) return
    const start = initialState(address, row)
    if (start.lost) setLost(start.lost)
    const own = new Autosave(start.state, {
      write: write => store(address, write),
      onRow: learnRow,
      onChange: setSave,
      onUnstored: unstored =>
        writePending(address, unstored && { ...unstored, draftId: row.id, base_version: baseOf(latest.current, row) }),
      onLost: text => setLost(setAside(address, text, baseOf(latest.current, row))),
    })
    autosave.current = own
    setSave(own.current)
    if (own.current.status === 'dirty') own.edit(own.current.content)
    const onHide = () => document.visibilityState === 'hidden' && void own.flush()
    document.addEventListener('visibilitychange', onHide)
    return () => {
      document.removeEventListener('visibilitychange', onHide)
      const after = latest.current
      const isOver = after?.id !== row.id || after.lock_holder_id !== row.lock_holder_id
      if (isOver) own.lose(whyOver(row, after), null)
      else void own.flush()
      own.stop()
      autosave.current = null
      setSave(null)
    }
  }, [isMine, draftId, address, learnRow])

  useLeftBehind({ address, draft, isMine, isLoaded, production }, setLost)
  const forget = useCallback((id: string) => setLost(forgetLost(address, id)), [address])
  return { autosave, save, lost: lost[0] ?? null, forget, isMine }
}

/** Why this person cannot write any more. */
function whyOver(then: DraftRow, now: DraftRow | null): LostCode {
  if (now?.id !== then.id) return 'no_draft'
  return now.lock_holder_id ? 'draft_locked' : 'lock_expired'
}

const baseOf = (now: DraftRow | null, then: DraftRow) => (now?.id === then.id ? now.base_version : then.base_version)

/** Writes; when the time to write had run out and nobody wrote since, it begins anew; what had arrived before is not written again. */
export async function store({ chatId, agentId }: DraftAddress, write: DraftWrite): Promise<DraftRow> {
  try {
    return await drafts.write(chatId, agentId, write)
  } catch (error) {
    const now = draftIn(error)
    if (now?.revision === write.revision) return drafts.write(chatId, agentId, { ...write, revision: null })
    if (now && write.content && isSame(now.written, write.content)) return now
    throw error
  }
}

/** The draft as it stands, where a write met another revision than it knew. */
const draftIn = (error: unknown) =>
  error instanceof ApiError && error.code === 'stale_revision'
    ? (error.data['draft'] as DraftRow | undefined)
    : undefined

/** What was typed before a reload and not stored goes on from there; when somebody has written since, it is set aside. */
function initialState(address: DraftAddress, row: DraftRow): { state: AutosaveState; lost: LostText[] | null } {
  const written = row.written
  const start = { content: written, revision: row.revision, status: 'saved', problem: null, lost: null } as const
  const left = takePending(address)
  if (!left || isSame(left.content, written)) return { state: start, lost: null }
  if (continues(left, row)) return { state: { ...start, content: left.content, status: 'dirty' }, lost: null }
  const why = left.draftId === row.id ? 'stale_revision' : 'no_draft'
  return { state: start, lost: setAside(address, { content: left.content, code: why, by: null }, left.base_version) }
}

/** A text that a page left unstored, found by somebody who does not write here now: it is shown to them. */
function useLeftBehind(
  {
    address,
    draft,
    isMine,
    isLoaded,
    production,
  }: Omit<DraftAutosaveInput, 'isOpen' | 'learnRow'> & { isMine: boolean },
  setLost: (lost: LostText[]) => void,
): void {
  useEffect(() => {
    if (!isLoaded || isMine || !readPending(address)) return
    const left = takePending(address)
    if (!left || isStored(left.content, draft) || isSame(left.content, contentOf(production))) return
    const isLockedByOther = draft?.lock_holder_id != null && draft.lock_holder_id !== address.personId
    setLost(setAside(address, { content: left.content, ...whyLost(left, draft, isLockedByOther) }, left.base_version))
  }, [address, draft, isMine, isLoaded, production, setLost])
}
