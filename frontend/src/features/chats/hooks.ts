/** What the chat's components read: parts of the store, in the shape they draw. */
import { useCallback, useEffect, useMemo, useState } from 'react'
import {
  type ActorRow,
  type DraftRow,
  type MemberRow,
  type MessageRow,
  type RunRow,
  useAgents,
  useMe,
  useMembers,
} from '@/api'
import { type ChatState, isActive, isEnded, type LiveText, useChatPart } from '@/realtime'

const sameItems = <T>(a: readonly T[], b: readonly T[]) => a.length === b.length && a.every((item, i) => item === b[i])

const messagesOf = (chat: ChatState) => chat.messages
const floorOf = (chat: ChatState) => chat.floor

/** The log from its floor on, oldest first. */
export function useMessages(chatId: string): readonly MessageRow[] {
  const messages = useChatPart(chatId, messagesOf)
  const floor = useChatPart(chatId, floorOf)
  return useMemo(
    () => [...messages.values()].filter(row => row.seq >= floor).sort((a, b) => a.seq - b.seq),
    [messages, floor],
  )
}

const placesOf = (chat: ChatState) => [...chat.members.values()].filter(member => !isEnded(member))
export const usePlaces = (chatId: string): readonly MemberRow[] => useChatPart(chatId, placesOf, sameItems)

const closedIn = (chat: ChatState) => chat.closed
/** This person is not in the chat, or not any more. */
export const useIsClosed = (chatId: string): boolean => useChatPart(chatId, closedIn)

const workingIn = (chat: ChatState) => [...chat.runs.values()].filter(isActive)
export const useWorking = (chatId: string): readonly RunRow[] => useChatPart(chatId, workingIn, sameItems)

export const useRun = (chatId: string, runId: string): RunRow | null =>
  useChatPart(
    chatId,
    useCallback((chat: ChatState) => chat.runs.get(runId) ?? null, [runId]),
  )

const nothing: readonly LiveText[] = []
export const useLiveTexts = (chatId: string, runId: string): readonly LiveText[] =>
  useChatPart(
    chatId,
    useCallback((chat: ChatState) => chat.live.get(runId) ?? nothing, [runId]),
  )

const draftsOf = (chat: ChatState) => [...chat.drafts.values()].filter(draft => !isEnded(draft))
export const useDrafts = (chatId: string): readonly DraftRow[] => useChatPart(chatId, draftsOf, sameItems)

export type Directory = (id: string | null | undefined) => ActorRow | null

/** Everybody who may appear in this chat, by id: those in it, those who left, and the workspace's people and agents. */
export function useDirectory(chatId: string, workspaceId: string): Directory {
  const members = useChatPart(chatId, membersOf)
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
  const typing = useChatPart(chatId, typistsOf)
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
export const usePresent = (chatId: string) => useChatPart(chatId, presentOf)
