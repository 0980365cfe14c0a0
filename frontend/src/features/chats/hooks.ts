/** Hooks that select parts of a chat's state for its components. */
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import {
  type ActorRow,
  type AnyRow,
  type BoardRow,
  type BoardTaskRow,
  type ChatRow,
  type DraftRow,
  type ListedChatRow,
  listNewestBoards,
  type MessageRow,
  type ParticipantRow,
  type RunRow,
  readBoard,
  type TextMessageRow,
  useAgents,
  useMe,
  useMembers,
} from '@/api'
import { getTimeOfId } from '@/lib/ids'
import { useTexts } from '@/lib/language'
import { sameItems } from '@/lib/sameItems'
import {
  type ChatState,
  chatState,
  getChatRow,
  indexOfSeq,
  isActive,
  isEnded,
  type StreamingText,
  upsertEndedRows,
  useChatSelector,
} from '@/realtime'
import type { FindName } from '@/ui/prose/mentions'
import { hasDraft } from './comparison'
import { isRunEnd, isTriedAgain, PLAN_TOOL } from './reply'
import { type BoardsByCall, isOfSubAgent, isTaskId } from './subAgents'

const selectLog = (chat: ChatState) => chat.log
const selectFirstLoadedSeq = (chat: ChatState) => chat.firstLoadedSeq

/** Returns the loaded messages, oldest first, or those in a range of `seq`. */
export function useMessages(chatId: string, range: { from: number; to: number } | null = null): readonly MessageRow[] {
  const log = useChatSelector(chatId, selectLog)
  const firstLoadedSeq = useChatSelector(chatId, selectFirstLoadedSeq)
  const from = range?.from ?? firstLoadedSeq
  const to = range?.to ?? Number.POSITIVE_INFINITY
  return useMemo(() => {
    const [start, end] = [indexOfSeq(log, from), indexOfSeq(log, to + 1)]
    return start === 0 && end === log.length ? log : log.slice(start, end)
  }, [log, from, to])
}

const participantsIn = (chat: ChatState) =>
  [...chat.rows.participant.values()].filter(participant => !isEnded(participant))
/** Returns the people and agents of the chat. */
export const useParticipants = (chatId: string): readonly ParticipantRow[] =>
  useChatSelector(chatId, participantsIn, sameItems)

/** A chat between agents has no title: it is shown by their names. */
const selectTitle = (chat: ChatState) =>
  getChatRow(chat)?.is_between_agents
    ? participantsIn(chat)
        .map(participant => participant.actor.name)
        .join(' · ')
    : (getChatRow(chat)?.title ?? null)
/** Returns the title of the chat; for a direct chat, and until the chat is loaded, the one in the list of chats. */
export const useChatTitle = (chatId: string, listedChat: ListedChatRow | undefined): string =>
  useChatSelector(chatId, selectTitle) || listedChat?.chat.title || ''

const selectIsDirect = (chat: ChatState) => getChatRow(chat)?.is_direct ?? false
export const useIsDirect = (chatId: string): boolean => useChatSelector(chatId, selectIsDirect)

/** Returns the row of the chat; null until it is loaded. */
export const useChatRow = (chatId: string): ChatRow | null => useChatSelector(chatId, getChatRow)

const selectIsBetweenAgents = (chat: ChatState) => getChatRow(chat)?.is_between_agents ?? false
/** Returns whether only two agents write in the chat. Editors may read it. */
export const useIsBetweenAgents = (chatId: string): boolean => useChatSelector(chatId, selectIsBetweenAgents)

const selectIsClosed = (chat: ChatState) => chat.closed
/** Returns whether this person may not, or no longer, see the chat. */
export const useIsClosed = (chatId: string): boolean => useChatSelector(chatId, selectIsClosed)

/** Returns whether a run does a task, as a sub-agent or for a board, so that it reads nothing of the chat. */
const isOfTask = (run: RunRow) => Boolean(run.parent_id ?? run.metadata)

const selectActiveRuns = (chat: ChatState) => [...chat.rows.run.values()].filter(isActive)
/** Returns whether a run waits without taking in new messages: the agent answers these by another run. */
const waitsOutside = (run: RunRow) => run.state === 'waiting_approval' || run.state === 'waiting_board'
const selectWorkingAgents = (chat: ChatState) => [
  ...new Set(
    selectActiveRuns(chat)
      .filter(run => !waitsOutside(run) && !isOfTask(run))
      .map(run => run.agent_id),
  ),
]
/**
 * Returns the ids of the agents with an active run that will read new messages of this chat. Runs that wait for a
 * person or for a board, and runs of sub-agents, do not count.
 */
export const useAgentsAtWork = (chatId: string): readonly string[] =>
  useChatSelector(chatId, selectWorkingAgents, sameItems)

export const useActiveRuns = (chatId: string): readonly RunRow[] => useChatSelector(chatId, selectActiveRuns, sameItems)

const selectRunPhases = (chat: ChatState) =>
  selectActiveRuns(chat)
    .filter(run => !isOfTask(run))
    .map(run => `${run.agent_id}:${run.state}:${run.version}`)
/**
 * Returns texts that change with each stored step of an active run: after a step, a message may reach the agent in
 * another way.
 */
export const useRunPhases = (chatId: string): readonly string[] => useChatSelector(chatId, selectRunPhases, sameItems)

const selectSubAgentRuns = (chat: ChatState) => [...chat.rows.run.values()].filter(isOfTask)
/** Returns the known runs of sub-agents and of the tasks of boards: all active ones, and those that ended while this page was open. */
export const useSubAgentRuns = (chatId: string): readonly RunRow[] =>
  useChatSelector(chatId, selectSubAgentRuns, sameItems)

const selectWaitingForSubAgents = (chat: ChatState) => [
  ...new Set(
    selectActiveRuns(chat)
      .filter(run => run.state === 'waiting_child' && !run.parent_id)
      .map(run => run.agent_id),
  ),
]
/** Returns the ids of the agents of this chat that wait for their sub-agents. */
export const useAgentsWaitingForSubAgents = (chatId: string): readonly string[] =>
  useChatSelector(chatId, selectWaitingForSubAgents, sameItems)

const selectActiveSubAgents = (chat: ChatState) =>
  selectSubAgentRuns(chat)
    .filter(isActive)
    .map(run => run.id)
/** Returns the ids of the active runs of sub-agents. */
export function useActiveSubAgents(chatId: string): ReadonlySet<string> {
  const ids = useChatSelector(chatId, selectActiveSubAgents, sameItems)
  return useMemo(() => new Set(ids), [ids])
}

const selectWaitingSubAgents = (chat: ChatState) =>
  selectSubAgentRuns(chat)
    .filter(run => run.state === 'waiting_approval')
    .map(run => run.id)
/** Returns the ids of the runs of sub-agents that wait for a person. */
export function useWaitingSubAgents(chatId: string): ReadonlySet<string> {
  const ids = useChatSelector(chatId, selectWaitingSubAgents, sameItems)
  return useMemo(() => new Set(ids), [ids])
}

const selectBoards = (chat: ChatState) => [...chat.rows.board.values()]
const isSamePlace = (a: BoardRow, b: BoardRow) =>
  a.id === b.id &&
  a.supervisor_run_id === b.supervisor_run_id &&
  a.call_id === b.call_id &&
  a.message_id === b.message_id &&
  a.ended_at === b.ended_at
const areSamePlaces = (a: readonly BoardRow[], b: readonly BoardRow[]) =>
  a.length === b.length && a.every((board, at) => b[at] !== undefined && isSamePlace(board, b[at]))
/** Returns the known boards. The list changes only when a place changes where one is shown, or when one ends. */
export const useBoardPlaces = (chatId: string): readonly BoardRow[] =>
  useChatSelector(chatId, selectBoards, areSamePlaces)

const selectCallsOfBoards = (chat: ChatState) => [
  ...[...chat.rows.board.keys()].map(id => `${id} ${id}`),
  ...[...chat.rows.board_task.values()].map(task => `${task.id} ${task.board_id}`),
]
/** Returns the id of the board of each call that its runs have. */
export function useBoardsByCall(chatId: string): BoardsByCall {
  const calls = useChatSelector(chatId, selectCallsOfBoards, sameItems)
  return useMemo(() => new Map(calls.map(call => call.split(' ') as [string, string])), [calls])
}

export const useBoard = (chatId: string, id: string): BoardRow | null =>
  useChatSelector(
    chatId,
    useCallback((chat: ChatState) => chat.rows.board.get(id) ?? null, [id]),
  )

/** Returns the id of the loaded message at which a board is shown; null if it is not known. */
export const useMessageOfBoard = (chatId: string, boardId: string): string | null =>
  useChatSelector(
    chatId,
    useCallback(
      (chat: ChatState) => {
        const board = chat.rows.board.get(boardId)
        if (!board?.supervisor_run_id) return board?.message_id ?? null
        const isCall = (row: MessageRow) =>
          row.type === 'TOOL_CALL' && row.run_id === board.supervisor_run_id && row.payload.call_id === board.call_id
        return chat.log.find(isCall)?.id ?? null
      },
      [boardId],
    ),
  )

/** Returns the tasks of a board in the order of their numbers. */
export const useBoardTasks = (chatId: string, boardId: string): readonly BoardTaskRow[] =>
  useChatSelector(
    chatId,
    useCallback((chat: ChatState) => listTasksOf(chat, boardId), [boardId]),
    sameItems,
  )

const listTasksOf = (chat: ChatState, boardId: string) =>
  [...chat.rows.board_task.values()].filter(task => task.board_id === boardId).sort((a, b) => a.number - b.number)

/** Number of the newest boards of a chat among which those of unknown plans and tasks are looked for. */
const MAX_LISTED = 50

/** Lists the ids of the boards that messages are about and that the store lacks, or whose tasks it lacks. */
function listMissingBoards(chat: ChatState, messages: readonly MessageRow[]): readonly string[] {
  const ids = new Set(messages.flatMap(({ payload }) => ('board_id' in payload && payload.board_id) || []))
  return [...ids].filter(id => {
    const board = chat.rows.board.get(id)
    // The change of an ended board may have arrived without its tasks.
    return !board || listTasksOf(chat, id).length < board.task_count
  })
}

/** Returns whether a message is the call of a plan, or of a task, whose board is not known. */
function isOfUnknownBoard(chat: ChatState, calls: BoardsByCall, row: MessageRow): boolean {
  if (row.metadata) return isTaskId(row.metadata.call_id) && !calls.has(row.metadata.call_id)
  const isPlan = row.type === 'TOOL_CALL' && row.payload.name === PLAN_TOOL
  return isPlan && ![...chat.rows.board.values()].some(board => board.supervisor_run_id === row.run_id)
}

const isDuring = (row: MessageRow, { created_at: from, ended_at: until }: BoardRow) =>
  until !== null && row.created_at >= from && row.created_at <= until

/**
 * Reads the boards that messages are about and that the store lacks: the socket sends only those that have not ended. If no
 * loaded message names the board of a plan or of a task, it is looked for in the list of boards.
 */
export function useEndedBoards(chatId: string, messages: readonly MessageRow[]): void {
  const calls = useBoardsByCall(chatId)
  const asked = useRef(new Set<string>())
  const pending = useRef(0)
  useEffect(() => {
    const ask = async (key: string, request: () => Promise<readonly AnyRow[]>) => {
      if (asked.current.has(key)) return
      asked.current.add(key)
      pending.current += 1
      try {
        const rows = await request()
        pending.current -= 1
        upsertEndedRows(chatId, rows)
      } catch {
        // Asked again when the next message arrives.
        pending.current -= 1
        asked.current.delete(key)
      }
    }
    const read = (id: string) =>
      ask(id, async () => {
        const { board, tasks } = await readBoard(id)
        return [board, ...tasks]
      })
    const chat = chatState(chatId)
    for (const id of listMissingBoards(chat, messages)) void read(id)
    const unknown = messages.filter(row => isOfUnknownBoard(chat, calls, row))
    if (pending.current > 0 || !unknown[0]) return
    void ask(`list ${unknown[0].id}`, async () => {
      const boards = await listNewestBoards(chatId, MAX_LISTED)
      for (const board of boards)
        if (board.task_count > 0 && unknown.some(row => isDuring(row, board))) void read(board.id)
      // No message is about a board that has ended without a valid plan.
      return boards.filter(board => board.task_count === 0 && board.ended_at !== null)
    })
  }, [chatId, messages, calls])
}

export const useRun = (chatId: string, runId: string): RunRow | null =>
  useChatSelector(
    chatId,
    useCallback((chat: ChatState) => chat.rows.run.get(runId) ?? null, [runId]),
  )

/** Returns the id of a message that an answer is about and that was edited since the agent read it; null if there is none. */
export const useEditedQuestion = (chatId: string, answer: TextMessageRow | undefined): string | null =>
  useChatSelector(
    chatId,
    useCallback((chat: ChatState) => (answer ? findEditedQuestion(chat, answer) : null), [answer]),
  )

function findEditedQuestion(chat: ChatState, { payload, created_at: at }: TextMessageRow): string | null {
  const ids = payload.answered_ids ?? (payload.answers ? [payload.answers] : [])
  const edited = ids.filter(id => {
    const row = chat.rows.message.get(id)
    return row?.edited_at && !row.deleted_at && (payload.answers_earlier_text || row.edited_at > at)
  })
  return edited.at(-1) ?? null
}

/** Returns whether the run of a reply ended without an answer, and a later run has answered the same message or ended as well. */
export function useIsTriedAgain(chatId: string, rows: readonly MessageRow[]): boolean {
  const end = rows.findLast(isRunEnd)
  return useChatSelector(
    chatId,
    useCallback((chat: ChatState) => end !== undefined && isTriedAgain(chat.log, end), [end]),
  )
}

const noTexts: readonly StreamingText[] = []
export const useStreamingTexts = (chatId: string, runId: string): readonly StreamingText[] =>
  useChatSelector(
    chatId,
    useCallback((chat: ChatState) => chat.streaming.get(runId) ?? noTexts, [runId]),
  )

const selectStreamingSteps = (chat: ChatState) =>
  [...chat.streaming].map(([run, texts]) => `${run} ${texts.at(-1)?.message_id ?? ''}`).sort()

/** Returns the time at which the streaming step of each run began, in ms. It changes once per step, not with each delta. */
export function useStreamingSince(chatId: string): ReadonlyMap<string, number> {
  const steps = useChatSelector(chatId, selectStreamingSteps, sameItems)
  return useMemo(() => {
    const since = new Map<string, number>()
    for (const step of steps) {
      const [run = '', message = ''] = step.split(' ')
      const began = getTimeOfId(message)
      if (began !== null) since.set(run, began)
    }
    return since
  }, [steps])
}

const selectDrafts = (chat: ChatState) => [...chat.rows.draft.values()].filter(draft => !isEnded(draft))
export const useDrafts = (chatId: string): readonly DraftRow[] => useChatSelector(chatId, selectDrafts, sameItems)

/** Returns whether this person can try a draft of the agent: an applied one, or one that they are editing. */
export const useHasDraft = (chatId: string, agentId: string | null, me: string): boolean =>
  useChatSelector(
    chatId,
    useCallback((chat: ChatState) => hasDraft(chat, agentId, me), [agentId, me]),
  )

/** Returns the id of the agent that answered last, if any. */
export const useLastAnswerer = (chatId: string): string | null => useChatSelector(chatId, selectLastAnswerer)

/** Number of messages that are searched for the last answer. */
const MAX_SEARCHED = 500

const selectLastAnswerer = (chat: ChatState) =>
  chat.log.slice(-MAX_SEARCHED).findLast(row => row.run_id && row.author_id && !isOfSubAgent(row))?.author_id ?? null

/** Returns the states of the workspace's agents as one text, which changes when an agent begins or ends its work in any chat. */
export const useStatesOfAgents = (workspaceId: string): string =>
  (useAgents(workspaceId).data ?? []).map(({ actor, state }) => `${actor.id}:${state}`).join(' ')

export type FindActor = (id: string | null | undefined) => ActorRow | null

/** Returns a function that finds anyone who may appear in this chat, also those who left, and the workspace's people and agents. */
export function useFindActor(chatId: string, workspaceId: string): FindActor {
  const participants = useChatSelector(chatId, participantsOf)
  const agents = useAgents(workspaceId).data
  const people = useMembers(workspaceId).data
  return useMemo(() => {
    const known = new Map<string, ActorRow>()
    for (const person of people ?? []) known.set(person.actor.id, person.actor)
    for (const agent of agents ?? []) known.set(agent.actor.id, agent.actor)
    for (const participant of participants.values())
      known.set(participant.actor.id, known.get(participant.actor.id) ?? participant.actor)
    return id => (id ? (known.get(id) ?? null) : null)
  }, [participants, agents, people])
}

const participantsOf = (chat: ChatState) => chat.rows.participant

/** Returns a function that finds the name for the handle of a participant, also of one who has left, or for `all`. */
export function useFindName(findActor: FindActor, chatId: string, me: string): FindName {
  const participants = useChatSelector(chatId, participantsOf)
  const { t } = useTexts()
  return useMemo(() => {
    const byHandle = new Map(
      [...participants.values()].map(participant => [participant.actor.handle, participant.actor]),
    )
    return handle => {
      if (handle === 'all') return { name: t('mentionAll'), isMe: true }
      const actor = byHandle.get(handle.toLowerCase())
      return actor ? { name: findActor(actor.id)?.name ?? actor.name, isMe: actor.id === me } : null
    }
  }, [participants, findActor, me, t])
}

const selectTyping = (chat: ChatState) => chat.typing

/** Returns the ids of those who are typing a message, without the reader. */
export function useTypists(chatId: string): readonly string[] {
  const typing = useChatSelector(chatId, selectTyping)
  const me = useMe().data?.actor.id
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (typing.size === 0) return
    setNow(Date.now())
    const last = Math.max(...typing.values())
    const timer = setInterval(() => {
      setNow(Date.now())
      if (Date.now() >= last) clearInterval(timer)
    }, 1_000)
    return () => clearInterval(timer)
  }, [typing])
  return [...typing].filter(([actor, until]) => actor !== me && until > now).map(([actor]) => actor)
}

const selectPresent = (chat: ChatState) => chat.present
/** Returns the ids of the people who have this chat open. */
export const usePeopleWithChatOpen = (chatId: string): readonly string[] => useChatSelector(chatId, selectPresent)
