/** The draft of one agent in one chat, as this person sees and edits it. */
import { useCallback, useEffect, useMemo, useState } from 'react'
import type { ActorRow, AgentRow, DraftRow, ErrorCode, SpecContent } from '@/api'
import { isFuture } from '@/lib/time'
import { type ChatState, isEnded, upsertRows, useChatSelector } from '@/realtime'
import type { AutosaveState } from '../autosave'
import { useDraftAutosave } from './draftAutosave'
import type { LostText } from './draftBackup'
import { findJustSavedDraft } from './justSaved'

export interface Workshop {
  production: SpecContent
  draft: DraftRow | null
  applied: SpecContent | null
  /** The displayed content: this person's edits, another person's edits as they arrive, or production. */
  content: SpecContent
  caret: number | null
  /** Whether this person is editing. False after a text was lost, until editing resumes. */
  isMine: boolean
  /** Another person who is editing. */
  writer: { id: string; until: string } | null
  save: AutosaveState | null
  /** The newest text that could not be stored and that its writer has not dropped. */
  lost: LostText | null
  dropLostText(): void
  edit(content: SpecContent, caret?: number): void
  /** Stores all edits. Returns the revision, or null when they could not be stored. */
  flush(): Promise<number | null>
  /** Returns the error code if the server rejected the text. */
  getProblem(): ErrorCode | null
  /** Returns the revision of the text that is stored, even if newer edits are not; null after a text was lost. */
  getStoredRevision(): number | null
  upsertRow(row: DraftRow): void
  /** Starts editing from this row, also after a text was lost. */
  resume(row: DraftRow): void
}

/** Returns the current time, updated when a lock expires. */
function useNow(until: string | null): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const remainingMs = until ? Date.parse(until) - Date.now() : -1
    if (remainingMs < 0) return setNow(Date.now())
    const timer = setTimeout(() => setNow(Date.now()), Math.min(remainingMs + 50, 2_000_000_000)) // timers have 31 bits
    return () => clearTimeout(timer)
  }, [until])
  return now
}

function useDraft(chatId: string, agentId: string) {
  const draft = useChatSelector(
    chatId,
    useCallback(
      (chat: ChatState) => [...chat.rows.draft.values()].find(row => row.agent_id === agentId && !isEnded(row)) ?? null,
      [agentId],
    ),
  )
  const writing = useChatSelector(
    chatId,
    useCallback((chat: ChatState) => (draft ? (chat.writing.get(draft.id) ?? null) : null), [draft]),
  )
  return { draft, writing }
}

const selectIsLoaded = (chat: ChatState) => chat.loaded

/**
 * Returns the state of the workshop of an agent in a chat. `draft` is the stored row; `writing` is what its writer has typed since
 * then, as it arrives; `saved` is a draft that has just become the production version.
 */
export function useWorkshop(chatId: string, agent: AgentRow, me: ActorRow): Workshop {
  const agentId = agent.actor.id
  const { draft, writing } = useDraft(chatId, agentId)
  const lockedUntil = writing?.lock_expires_at ?? draft?.lock_expires_at ?? null
  const now = useNow(lockedUntil)
  const isLocked = draft !== null && isFuture(lockedUntil, now)
  const isLoaded = useChatSelector(chatId, selectIsLoaded)
  const upsertRow = useCallback((row: DraftRow) => upsertRows(chatId, [row]), [chatId])
  const number = agent.spec.number ?? 0
  const saved = useChatSelector(
    chatId,
    useCallback((chat: ChatState) => findJustSavedDraft(chat.rows.draft.values(), agentId, number), [agentId, number]),
  )
  const { autosave, save, lost, dropText, isMine } = useDraftAutosave({
    draftKey: useMemo(() => ({ personId: me.id, chatId, agentId }), [me.id, chatId, agentId]),
    draft,
    isLocked,
    isLoaded,
    production: agent.spec,
    upsertRow,
  })

  const production = agent.spec.content
  const applied = useMemo(() => (draft ? draft.applied : null), [draft])
  const latest = writing ?? draft ?? saved
  const written = useMemo(() => (latest ? latest.written : production), [latest, production])

  // Adopt the edits that the same person makes in another tab.
  useEffect(() => {
    if (isMine && writing) autosave.current?.adopt(writing.written, writing.revision)
    else if (isMine && draft) autosave.current?.adopt(draft.written, draft.revision)
  }, [isMine, writing, draft, autosave])

  const edit = useCallback((content: SpecContent, caret?: number) => autosave.current?.edit(content, caret), [autosave])
  const flush = useCallback(async () => (await autosave.current?.flush()) ?? null, [autosave])
  const getProblem = useCallback(() => autosave.current?.current.problem ?? null, [autosave])
  const getStoredRevision = useCallback(() => {
    const current = autosave.current?.current
    return current && !current.lost ? current.revision : null
  }, [autosave])
  const resume = useCallback(
    (row: DraftRow) => {
      upsertRow(row)
      autosave.current?.restart(row.written, row.revision)
    },
    [upsertRow, autosave],
  )
  const revision = Math.max(writing?.revision ?? 0, draft?.revision ?? 0)
  const dropLostText = () => {
    if (lost) dropText(lost.id)
    autosave.current?.restart(written, revision)
  }
  // After a conflict with another tab the edits are kept as a lost text, and the stored draft is shown until editing resumes.
  const isEditing = isMine && save !== null && save.lost === null
  return {
    production,
    draft,
    applied,
    content: isEditing ? save.content : written,
    caret: isMine ? null : (writing?.caret ?? null),
    isMine: isEditing,
    writer:
      isLocked && !isMine && draft.lock_holder_id && lockedUntil
        ? { id: draft.lock_holder_id, until: lockedUntil }
        : null,
    save,
    lost,
    dropLostText,
    edit,
    flush,
    getProblem,
    getStoredRevision,
    upsertRow,
    resume,
  }
}
