/** Nests the rows of sub-agents below the calls that gave them their tasks. Pure functions. */
import type { EndedRunState, MessageMetadata, MessageRow, RunRow, SubAgentResult, SystemMessageRow } from '@/api'
import { getTimeOfId } from '@/lib/ids'
import { sameItems } from '@/lib/sameItems'
import { type ChatState, isActive } from '@/realtime'
import { getRunId } from './comparison'

/** The run of a sub-agent, with its rows that are loaded. */
export interface SubAgent {
  runId: string
  agentId: string | null
  /** `metadata.call_id` is the call of its caller that it works for. */
  metadata: MessageMetadata
  rows: readonly MessageRow[]
  /** Its own sub-agents, oldest first. */
  subAgents: readonly SubAgent[]
}

export interface NestedRows {
  /** The rows that are not of sub-agents. */
  own: readonly MessageRow[]
  /** The sub-agents of each run that is not of a sub-agent, oldest first. */
  byCaller: ReadonlyMap<string, readonly SubAgent[]>
  /** The runs of boards, by the ids of the boards: those of their tasks, and those of answers by agents who are not in the chat. */
  byBoard: ReadonlyMap<string, readonly SubAgent[]>
  /** Sub-agents whose caller is not known yet, because its call is on a page that is not loaded. */
  withoutCaller: readonly SubAgent[]
}

/** The id of the board of each of its tasks and of the board itself: the runs of a board have one of these as their `call_id`. */
export type BoardsByCall = ReadonlyMap<string, string>

/** Returns whether a `call_id` is the id of a task of a board. The ids of calls of models are no ids of ours. */
export const isTaskId = (callId: string): boolean => getTimeOfId(callId) !== null

/** Only rows of sub-agents have metadata. The run of a task of a board is treated as one. */
export const isOfSubAgent = (row: MessageRow) => Boolean(row.metadata)

/** Returns the rows that are shown as the message with this id. A reply has the id of its first row. */
export function findShownRows(chat: ChatState, id: string): readonly MessageRow[] {
  const row = chat.rows.message.get(id)
  if (!row) return []
  return row.run_id ? chat.log.filter(other => other.run_id === row.run_id && !isOfSubAgent(other)) : [row]
}

export const noSubAgents: readonly SubAgent[] = []

const noBoards: BoardsByCall = new Map()
/** The caller of the runs of a board in `findCallers`. */
const toCaller = (boardId: string) => `board ${boardId}`

/** Nests the rows of a growing log. An unchanged sub-agent is the same object, so that it is not rendered again. */
export class NestedLog {
  private known = new Map<string, SubAgent>()

  /** `runs` are the known runs of sub-agents, of which the active ones are shown before their first row. */
  update(messages: readonly MessageRow[], runs: readonly RunRow[], boards: BoardsByCall = noBoards): NestedRows {
    const own = messages.some(isOfSubAgent) ? messages.filter(row => !isOfSubAgent(row)) : messages
    const found = findRuns(own.length < messages.length ? messages : [], runs)
    if (found.size === 0) return { own, byCaller: new Map(), byBoard: new Map(), withoutCaller: noSubAgents }
    const callers = findCallers(found, messages, runs, boards)
    const idsByCaller = new Map<string, string[]>()
    // The id of a run begins with the time at which it was created.
    for (const id of [...found.keys()].sort()) {
      const caller = callers.get(id) ?? ''
      idsByCaller.set(caller, [...(idsByCaller.get(caller) ?? []), id])
    }
    const known = new Map<string, SubAgent>()
    const build = (caller: string): readonly SubAgent[] =>
      (idsByCaller.get(caller) ?? []).flatMap(id => {
        const run = found.get(id)
        if (!run) return []
        const subAgent = this.reuse({ ...run, subAgents: build(id) })
        known.set(id, subAgent)
        return [subAgent]
      })
    const boardIds = new Set(boards.values())
    const byBoard = new Map<string, readonly SubAgent[]>()
    for (const id of boardIds) if (idsByCaller.has(toCaller(id))) byBoard.set(id, build(toCaller(id)))
    const outermost = [...idsByCaller.keys()].filter(
      caller => caller !== '' && !caller.startsWith('board ') && !found.has(caller),
    )
    const byCaller = new Map(outermost.map(caller => [caller, build(caller)]))
    const withoutCaller = build('')
    this.known = known
    return { own, byCaller, byBoard, withoutCaller }
  }

  private reuse(subAgent: SubAgent): SubAgent {
    const before = this.known.get(subAgent.runId)
    const isSame = before && sameItems(before.rows, subAgent.rows) && sameItems(before.subAgents, subAgent.subAgents)
    return isSame ? before : subAgent
  }
}

type FoundRun = Omit<SubAgent, 'subAgents' | 'rows'> & { rows: MessageRow[] }

/** Finds the runs of sub-agents: the active ones, and those with rows. */
function findRuns(messages: readonly MessageRow[], runs: readonly RunRow[]): ReadonlyMap<string, FoundRun> {
  const found = new Map<string, FoundRun>()
  for (const run of runs)
    if (run.metadata && isActive(run))
      found.set(run.id, { runId: run.id, agentId: run.agent_id, metadata: run.metadata, rows: [] })
  for (const row of messages) addRow(found, row)
  return found
}

function addRow(found: Map<string, FoundRun>, row: MessageRow): void {
  const runId = getRunId(row)
  if (!row.metadata || runId === '') return
  const run = found.get(runId) ?? { runId, agentId: null, metadata: row.metadata, rows: [] }
  run.agentId ??= row.author_id ?? ('target_id' in row.payload ? (row.payload.target_id ?? null) : null)
  run.rows.push(row)
  found.set(runId, run)
}

const findBoards = (found: ReadonlyMap<string, FoundRun>, boards: BoardsByCall) =>
  [...found.values()].flatMap(({ runId, metadata }): [string, string][] => {
    const boardId = boards.get(metadata.call_id)
    return boardId ? [[runId, toCaller(boardId)]] : []
  })

/** Returns the id of the caller of each sub-agent, as far as it is known, by the ids of their runs. */
function findCallers(
  found: ReadonlyMap<string, FoundRun>,
  messages: readonly MessageRow[],
  runs: readonly RunRow[],
  boards: BoardsByCall,
): ReadonlyMap<string, string> {
  const callers = new Map(findBoards(found, boards))
  for (const run of runs) if (run.parent_id) callers.set(run.id, run.parent_id)
  for (const row of messages) {
    const data = row.type === 'TOOL_RESPONSE' ? row.payload.data : null
    if (data?.kind === 'sub_agent') callers.set(data.run_id, getRunId(row))
  }
  const withoutCaller = [...found.values()].filter(run => !callers.has(run.runId))
  if (withoutCaller.length === 0) return callers
  // A sub-agent that has ended while its caller waits for others: only the id of the call is known, which other runs may have, too.
  const assignedCalls = new Set([...callers].map(([id, caller]) => `${caller} ${found.get(id)?.metadata.call_id}`))
  for (const run of withoutCaller) {
    const { agent, call_id: callId } = run.metadata
    const callerPath = agent.path.slice(0, -1).join(' ')
    const firstSeq = run.rows[0]?.seq ?? Number.POSITIVE_INFINITY
    const call = messages.findLast(
      row =>
        row.type === 'TOOL_CALL' &&
        row.payload.call_id === callId &&
        row.seq < firstSeq &&
        // The rows of an agent that is no sub-agent have no path: it would be the first handle alone.
        (row.metadata?.agent.path.join(' ') ?? agent.path[0]) === callerPath &&
        !assignedCalls.has(`${getRunId(row)} ${callId}`),
    )
    if (!call) continue
    callers.set(run.runId, getRunId(call))
    assignedCalls.add(`${getRunId(call)} ${callId}`)
  }
  return callers
}

/** Returns these sub-agents with all below them, in the order in which they are shown. */
export const listTree = (subAgents: readonly SubAgent[]): readonly SubAgent[] =>
  subAgents.flatMap(subAgent => [subAgent, ...listTree(subAgent.subAgents)])

/** Returns whether a message is by one of these sub-agents, or by one below them. */
export const containsRow = (subAgents: readonly SubAgent[], id: string): boolean =>
  subAgents.some(subAgent => subAgent.rows.some(row => row.id === id) || containsRow(subAgent.subAgents, id))

/** Finds the results of tasks in the rows of their callers, by the ids of the runs. */
export function findResults(rows: readonly MessageRow[]): ReadonlyMap<string, SubAgentResult> {
  const results = new Map<string, SubAgentResult>()
  for (const row of rows) {
    const data = row.type === 'TOOL_RESPONSE' ? row.payload.data : null
    if (data?.kind === 'sub_agent') results.set(data.run_id, data)
  }
  return results
}

/** How a sub-agent ended, from the messages alone, so that every tab shows the same. */
export interface SubAgentEnd {
  state: EndedRunState
  code: string | null
  /** The actor who stopped it. */
  by: string | null
  summary: string
  seconds: number
}

const MAX_SUMMARY = 300

export function getEnd({ runId, rows }: SubAgent, result: SubAgentResult | null): SubAgentEnd {
  const endRow = rows.findLast(isEndRow)
  const text = rows.findLast(row => row.type === 'TEXT_MESSAGE')?.payload.text ?? ''
  return {
    state: result?.state ?? getEndState(endRow),
    code: endRow?.payload.code ?? result?.error_code ?? null,
    by: endRow?.payload.actor_id ?? null,
    summary: result?.summary || text.split(/\s+/).join(' ').slice(0, MAX_SUMMARY).trim(),
    seconds: result?.seconds ?? computeSeconds(runId, rows.at(-1)),
  }
}

const isEndRow = (row: MessageRow): row is SystemMessageRow => row.type === 'RUN_FAILED' || row.type === 'RUN_STOPPED'

const getEndState = (endRow: SystemMessageRow | undefined): EndedRunState =>
  endRow ? (endRow.type === 'RUN_FAILED' ? 'failed' : 'stopped') : 'completed'

/** Returns the seconds from the creation of a run to its last row. */
function computeSeconds(runId: string, last: MessageRow | undefined): number {
  const from = getTimeOfId(runId)
  return from !== null && last ? Math.max(0, Date.parse(last.created_at) - from) / 1_000 : 0
}

/** What a sub-agent was given by its caller. */
export interface Task {
  text: string
  /** The facts that go along, one in a line; empty if there are none. */
  context: string
  fileIds: readonly string[]
}

/** Reads the task of a sub-agent from the arguments of its call; null while they are unknown or incomplete. */
export function readTask(args: string): Task | null {
  try {
    const values: unknown = JSON.parse(args)
    if (!isRecord(values) || typeof values['task'] !== 'string') return null
    const { task: text, context, options } = values
    const ids = isRecord(options) ? options['file_ids'] : null
    const fileIds = Array.isArray(ids) ? ids.filter(id => typeof id === 'string').map(id => id.toLowerCase()) : []
    return { text, context: isRecord(context) ? formatContext(context) : '', fileIds: [...new Set(fileIds)] }
  } catch {
    return null
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const formatContext = (context: Record<string, unknown>): string =>
  Object.entries(context)
    .map(([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('\n')
