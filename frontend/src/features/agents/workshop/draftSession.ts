/** The draft of one agent in one chat as this person sees and writes it. */
import { useCallback, useEffect, useMemo, useState } from 'react'
import type { ActorRow, AgentRow, DraftRow, ErrorCode, SpecContent } from '@/api'
import { isFuture } from '@/lib/time'
import { type ChatState, isEnded, upsertRows, useChatSelector } from '@/realtime'
import type { AutosaveState } from '../autosave'
import { contentOf } from '../content'
import { useDraftAutosave } from './draftAutosave'
import type { LostText } from './draftBackup'
import { justSaved } from './justSaved'

export interface Workshop {
  production: SpecContent
  draft: DraftRow | null
  applied: SpecContent | null
  /** What is on the screen: one's own text, somebody's text as it is written, or production. */
  content: SpecContent
  caret: number | null
  isMine: boolean
  /** Somebody else who writes now. */
  writer: { id: string; until: string } | null
  save: AutosaveState | null
  /** A text that could not be stored any more, set aside until its writer forgets it. */
  lost: LostText | null
  forgetLost(): void
  edit(content: SpecContent, caret?: number): void
  /** Stores what is typed; null when it could not be. */
  flush(): Promise<number | null>
  /** Why the text cannot be stored as it is. */
  problem(): ErrorCode | null
  learnRow(row: DraftRow): void
  /** Writing begins, or goes on after a text was lost: from this row. */
  resume(row: DraftRow): void
}

/** The current time, updated when a lock expires. */
function useNow(until: string | null): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const left = until ? Date.parse(until) - Date.now() : -1
    if (left < 0) return setNow(Date.now())
    const timer = setTimeout(() => setNow(Date.now()), Math.min(left + 50, 2_000_000_000))
    return () => clearTimeout(timer)
  }, [until])
  return now
}

function useDraft(chatId: string, agentId: string) {
  const draft = useChatSelector(
    chatId,
    useCallback(
      (chat: ChatState) => [...chat.drafts.values()].find(row => row.agent_id === agentId && !isEnded(row)) ?? null,
      [agentId],
    ),
  )
  const writing = useChatSelector(
    chatId,
    useCallback((chat: ChatState) => (draft ? (chat.writing.get(draft.id) ?? null) : null), [draft]),
  )
  return { draft, writing }
}

const loadedIn = (chat: ChatState) => chat.loaded

export function useWorkshop(chatId: string, agent: AgentRow, me: ActorRow): Workshop {
  const agentId = agent.actor.id
  const { draft, writing } = useDraft(chatId, agentId)
  const lockedUntil = writing?.lock_expires_at ?? draft?.lock_expires_at ?? null
  const now = useNow(lockedUntil)
  const isOpen = draft !== null && isFuture(lockedUntil, now)
  const isLoaded = useChatSelector(chatId, loadedIn)
  const learnRow = useCallback((row: DraftRow) => upsertRows(chatId, [row]), [chatId])
  const number = agent.spec.number ?? 0
  const saved = useChatSelector(
    chatId,
    useCallback((chat: ChatState) => justSaved(chat.drafts.values(), agentId, number), [agentId, number]),
  )
  const { autosave, save, lost, forget, isMine } = useDraftAutosave({
    address: useMemo(() => ({ personId: me.id, chatId, agentId }), [me.id, chatId, agentId]),
    draft,
    isOpen,
    isLoaded,
    production: agent.spec,
    learnRow,
  })

  const production = useMemo(() => contentOf(agent.spec), [agent.spec])
  const applied = useMemo(() => (draft ? draft.applied : null), [draft])
  const latest = writing ?? draft ?? saved
  const written = useMemo(() => (latest ? latest.written : production), [latest, production])

  // Another tab of the same person writes on: its text is taken over here.
  useEffect(() => {
    if (isMine && writing) autosave.current?.adopt(writing.written, writing.revision)
    else if (isMine && draft) autosave.current?.adopt(draft.written, draft.revision)
  }, [isMine, writing, draft, autosave])

  const edit = useCallback((content: SpecContent, caret?: number) => autosave.current?.edit(content, caret), [autosave])
  const flush = useCallback(async () => (await autosave.current?.flush()) ?? null, [autosave])
  const problem = useCallback(() => autosave.current?.current.problem ?? null, [autosave])
  const resume = useCallback(
    (row: DraftRow) => {
      learnRow(row)
      autosave.current?.restart(row.written, row.revision)
    },
    [learnRow, autosave],
  )
  const revision = Math.max(writing?.revision ?? 0, draft?.revision ?? 0)
  const forgetLost = () => {
    if (lost) forget(lost.id)
    autosave.current?.restart(written, revision)
  }
  // A text that met a newer one (of another tab) is set aside; what is stored is shown until writing goes on.
  const isWriting = isMine && save !== null && save.lost === null
  return {
    production,
    draft,
    applied,
    content: isWriting ? save.content : written,
    caret: isMine ? null : (writing?.caret ?? null),
    isMine: isWriting,
    writer:
      isOpen && !isMine && draft.lock_holder_id && lockedUntil
        ? { id: draft.lock_holder_id, until: lockedUntil }
        : null,
    save,
    lost,
    forgetLost,
    edit,
    flush,
    problem,
    learnRow,
    resume,
  }
}
