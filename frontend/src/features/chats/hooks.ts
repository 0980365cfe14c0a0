/** What the chat's components read: parts of the store, in the shape they draw. */
import { useCallback, useEffect, useMemo, useState } from 'react'
import {
  type ActorRow,
  type ChatSummaryRow,
  type DraftRow,
  type MemberRow,
  type MessageRow,
  type RunRow,
  useAgents,
  useMe,
  useMembers,
} from '@/api'
import { timeOfId } from '@/lib/ids'
import { sameItems } from '@/lib/sameItems'
import { type ChatState, indexOfSeq, isActive, isEnded, type LiveText, useChatSelector } from '@/realtime'

const logOf = (chat: ChatState) => chat.log
const firstLoadedSeqOf = (chat: ChatState) => chat.firstLoadedSeq

/** A part of the log, oldest first: from its floor on, or between two places of it. */
export function useMessages(chatId: string, range: { from: number; to: number } | null = null): readonly MessageRow[] {
  const log = useChatSelector(chatId, logOf)
  const firstLoadedSeq = useChatSelector(chatId, firstLoadedSeqOf)
  const from = range?.from ?? firstLoadedSeq
  const to = range?.to ?? Number.POSITIVE_INFINITY
  return useMemo(() => {
    const [start, end] = [indexOfSeq(log, from), indexOfSeq(log, to + 1)]
    return start === 0 && end === log.length ? log : log.slice(start, end)
  }, [log, from, to])
}

const membersIn = (chat: ChatState) => [...chat.members.values()].filter(member => !isEnded(member))
/** The people and agents who are in the chat now. */
export const useChatMembers = (chatId: string): readonly MemberRow[] => useChatSelector(chatId, membersIn, sameItems)

const titleOf = (chat: ChatState) => chat.chat?.title ?? null
/** The chat's title; until the chat is read, the one in the list of chats. */
export const useChatTitle = (chatId: string, summary: ChatSummaryRow | undefined): string =>
  useChatSelector(chatId, titleOf) ?? summary?.chat.title ?? ''

const closedIn = (chat: ChatState) => chat.closed
/** This person is not in the chat, or not any more. */
export const useIsClosed = (chatId: string): boolean => useChatSelector(chatId, closedIn)

const workingIn = (chat: ChatState) => [...chat.runs.values()].filter(isActive)
const agentsAtWorkIn = (chat: ChatState) => [...new Set(workingIn(chat).map(run => run.agent_id))]
/** The ids of the agents that are at work in this chat. */
export const useAgentsAtWork = (chatId: string): readonly string[] => useChatSelector(chatId, agentsAtWorkIn, sameItems)

export const useWorking = (chatId: string): readonly RunRow[] => useChatSelector(chatId, workingIn, sameItems)

export const useRun = (chatId: string, runId: string): RunRow | null =>
  useChatSelector(
    chatId,
    useCallback((chat: ChatState) => chat.runs.get(runId) ?? null, [runId]),
  )

const nothing: readonly LiveText[] = []
export const useLiveTexts = (chatId: string, runId: string): readonly LiveText[] =>
  useChatSelector(
    chatId,
    useCallback((chat: ChatState) => chat.live.get(runId) ?? nothing, [runId]),
  )

const liveSinceOf = (chat: ChatState) =>
  [...chat.live].map(([run, texts]) => `${run} ${texts.at(-1)?.message_id ?? ''}`).sort()

/** By run: when what is streaming now began (ms). It changes once per step, not with each word. */
export function useLiveSince(chatId: string): ReadonlyMap<string, number> {
  const steps = useChatSelector(chatId, liveSinceOf, sameItems)
  return useMemo(() => {
    const since = new Map<string, number>()
    for (const step of steps) {
      const [run = '', message = ''] = step.split(' ')
      const began = timeOfId(message)
      if (began !== null) since.set(run, began)
    }
    return since
  }, [steps])
}

const draftsOf = (chat: ChatState) => [...chat.drafts.values()].filter(draft => !isEnded(draft))
export const useDrafts = (chatId: string): readonly DraftRow[] => useChatSelector(chatId, draftsOf, sameItems)

/** Whether there is a draft of this agent that this person can try: one that is applied here, or their own. */
export const useHasDraft = (chatId: string, agentId: string | null, me: string): boolean =>
  useChatSelector(
    chatId,
    useCallback(
      (chat: ChatState) =>
        [...chat.drafts.values()].some(
          draft =>
            draft.agent_id === agentId && !isEnded(draft) && (draft.applied !== null || draft.lock_holder_id === me),
        ),
      [agentId, me],
    ),
  )

/** The agent that answered last, if one has. */
export const useLastAnswerer = (chatId: string): string | null => useChatSelector(chatId, lastAnswererIn)

/** Who answered longer ago than so many messages is not looked for. */
const RECENT = 500

const lastAnswererIn = (chat: ChatState) =>
  chat.log.slice(-RECENT).findLast(row => row.run_id && row.author_id)?.author_id ?? null

export type Directory = (id: string | null | undefined) => ActorRow | null

/** Everybody who may appear in this chat, by id: those in it, those who left, and the workspace's people and agents. */
export function useDirectory(chatId: string, workspaceId: string): Directory {
  const members = useChatSelector(chatId, membersOf)
  const agents = useAgents(workspaceId).data
  const people = useMembers(workspaceId).data
  return useMemo(() => {
    const known = new Map<string, ActorRow>()
    for (const person of people ?? []) known.set(person.actor.id, person.actor)
    for (const agent of agents ?? []) known.set(agent.actor.id, agent.actor)
    for (const member of members.values()) known.set(member.actor.id, known.get(member.actor.id) ?? member.actor)
    return id => (id ? (known.get(id) ?? null) : null)
  }, [members, agents, people])
}

const membersOf = (chat: ChatState) => chat.members

const typistsOf = (chat: ChatState) => chat.typing

/** Who is typing a message right now, the reader apart. */
export function useTypists(chatId: string): readonly string[] {
  const typing = useChatSelector(chatId, typistsOf)
  const me = useMe().data?.actor.id
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const next = Math.min(...typing.values())
    if (!Number.isFinite(next)) return
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [typing])
  return [...typing].filter(([actor, until]) => actor !== me && until > now).map(([actor]) => actor)
}

const presentOf = (chat: ChatState) => chat.present
export const usePresent = (chatId: string) => useChatSelector(chatId, presentOf)
