/** The draft of one agent in one chat as this person sees and writes it. */
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { type ActorRow, type AgentRow, type DraftRow, drafts, type SpecContent } from '@/api'
import { keep, kept } from '@/lib/stored'
import { type ChatState, isEnded, learn, useChatPart } from '@/realtime'
import { Autosave, type AutosaveState, type Lost } from '../autosave'
import { appliedIn, contentOf, isSame, writtenIn } from '../content'

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
  lost: Lost | null
  forgetLost(): void
  edit(content: SpecContent, caret?: number): void
  /** Stores what is typed; null when it could not be. */
  flush(): Promise<number | null>
  learnRow(row: DraftRow): void
  /** Writing begins, or goes on after a text was lost: from this row. */
  resume(row: DraftRow): void
}

const isHeld = (until: string | null, now: number) => until !== null && Date.parse(until) > now

/** The current time, renewed when a hold runs out. */
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
  const draft = useChatPart(
    chatId,
    useCallback(
      (chat: ChatState) => [...chat.drafts.values()].find(row => row.agent_id === agentId && !isEnded(row)) ?? null,
      [agentId],
    ),
  )
  const writing = useChatPart(
    chatId,
    useCallback((chat: ChatState) => (draft ? (chat.writing.get(draft.id) ?? null) : null), [draft]),
  )
  return { draft, writing }
}

const stored = (draftId: string) => `atelier.draft.${draftId}`

export function useWorkshop(chatId: string, agent: AgentRow, me: ActorRow): Workshop {
  const agentId = agent.actor.id
  const { draft, writing } = useDraft(chatId, agentId)
  const heldUntil = writing?.held_until ?? draft?.held_until ?? null
  const now = useNow(heldUntil)
  const isOpen = draft !== null && isHeld(heldUntil, now)
  const isMine = isOpen && draft.holder_id === me.id
  const learnRow = useCallback((row: DraftRow) => learn(chatId, [row]), [chatId])
  const { autosave, save, lost, forget } = useAutosave({ chatId, agentId, draft, isMine, learnRow })

  const production = useMemo(() => contentOf(agent.spec), [agent.spec])
  const applied = useMemo(() => (draft ? appliedIn(draft) : null), [draft])
  const written = useMemo(
    () => (writing ? writtenIn(writing) : draft ? writtenIn(draft) : production),
    [writing, draft, production],
  )

  // Another tab of the same person writes on: its text is taken over here.
  useEffect(() => {
    if (isMine && writing) autosave.current?.adopt(writtenIn(writing), writing.revision)
    else if (isMine && draft) autosave.current?.adopt(writtenIn(draft), draft.revision)
  }, [isMine, writing, draft, autosave])

  const edit = useCallback((content: SpecContent, caret?: number) => autosave.current?.edit(content, caret), [autosave])
  const flush = useCallback(async () => (await autosave.current?.flush()) ?? null, [autosave])
  const resume = useCallback(
    (row: DraftRow) => {
      learnRow(row)
      autosave.current?.restart(writtenIn(row), row.revision)
    },
    [learnRow, autosave],
  )
  const revision = Math.max(writing?.revision ?? 0, draft?.revision ?? 0)
  const forgetLost = () => {
    forget()
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
    writer: isOpen && !isMine && draft.holder_id && heldUntil ? { id: draft.holder_id, until: heldUntil } : null,
    save,
    lost,
    forgetLost,
    edit,
    flush,
    learnRow,
    resume,
  }
}

interface AutosaveInput {
  chatId: string
  agentId: string
  draft: DraftRow | null
  isMine: boolean
  learnRow(row: DraftRow): void
}

/** One autosave for as long as this person holds this draft. Its unsaved text outlives the hold, and a reload. */
function useAutosave({ chatId, agentId, draft, isMine, learnRow }: AutosaveInput) {
  const autosave = useRef<Autosave | null>(null)
  const [save, setSave] = useState<AutosaveState | null>(null)
  const [lost, setLost] = useState<Lost | null>(null)
  const draftId = draft?.id ?? null
  const latest = useRef(draft)
  latest.current = draft

  useEffect(() => {
    const row = latest.current
    if (!isMine || !row || row.id !== draftId) return
    const own = new Autosave(startOf(row), {
      write: write => drafts.write(chatId, agentId, write),
      onRow: learnRow,
      onChange: state => {
        setSave(state)
        keep(stored(row.id), state.status === 'saved' ? null : { content: state.content, revision: state.revision })
        if (state.lost) setLost(state.lost)
      },
    })
    autosave.current = own
    setSave(own.current)
    setLost(null)
    if (own.current.status === 'dirty') own.edit(own.current.content)
    return () => {
      const after = latest.current
      const isOver = !after || after.id !== row.id || after.holder_id !== row.holder_id
      if (isOver) own.lose('stale_revision', null)
      else void own.flush()
      own.stop()
      autosave.current = null
      setSave(null)
    }
  }, [isMine, draftId, chatId, agentId, learnRow])

  const forget = useCallback(() => {
    setLost(null)
    if (draftId) keep(stored(draftId), null)
  }, [draftId])
  return { autosave, save, lost, forget }
}

/** What was typed before a reload and not stored goes on from there, if nobody has written since. */
function startOf(row: DraftRow): AutosaveState {
  const left = kept<{ content: SpecContent; revision: number } | null>(stored(row.id), null)
  const written = writtenIn(row)
  if (left && left.revision === row.revision && !isSame(left.content, written)) {
    return { content: left.content, revision: row.revision, status: 'dirty', lost: null }
  }
  return { content: written, revision: row.revision, status: 'saved', lost: null }
}
