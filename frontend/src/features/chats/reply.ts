/** Builds the parts of a reply from the rows of one run and its streaming texts. Pure functions. */
import type {
  ApprovalAskedRow,
  ApprovalDecided,
  BudgetRefusal,
  MessageRow,
  Stamp,
  SystemMessageRow,
  ToolResponsePayload,
} from '@/api'
import type { StreamingText } from '@/realtime'
import { getRunId, getStamp } from './comparison'

/** The tool by which a supervisor makes a plan. */
export const PLAN_TOOL = 'plan_tasks'

export type Part =
  | { kind: 'thinking'; key: string; text: string; seconds: number | null; isStreaming: boolean }
  | { kind: 'text'; key: string; text: string; incomplete: boolean; isStreaming: boolean; row: MessageRow | null }
  | {
      kind: 'tool'
      key: string
      callId: string
      name: string
      args: string
      response: ToolResponsePayload | null
      isStreaming: boolean
      /** What people decided about the call, if it waited for them. */
      decision: ApprovalDecided | null
    }
  /** A call, or a question, that waits for a decision. */
  | { kind: 'approval'; key: string; row: ApprovalAskedRow }

export interface RunEnd {
  kind: 'failed' | 'stopped'
  code: string | null
  by: string | null
  /** The provider's own error message. */
  note: string
  /** The person whose own model failed, if this ended the run; otherwise empty. */
  payerName: string
  /** The budget that ended the run. */
  budget: BudgetRefusal | null
}

export interface ReplyParts {
  parts: Part[]
  stamp: Stamp | null
  runEnd: RunEnd | null
}

export function buildReply(rows: readonly MessageRow[], streaming: readonly StreamingText[]): ReplyParts {
  const facts: CallFacts = { responses: new Map(), asked: new Map(), decided: new Map() }
  for (const row of rows) {
    if (row.type === 'TOOL_RESPONSE') facts.responses.set(row.payload.tool_call_id, row.payload)
    if (row.type === 'APPROVAL_ASKED') facts.asked.set(row.payload.call_id, row)
    if (row.type === 'APPROVAL_DECIDED') facts.decided.set(row.payload.call_id, row.payload)
  }
  const parts = rows.flatMap(row => {
    const part = getPart(row, facts)
    return part ? [part] : []
  })
  return { parts: [...parts, ...streaming.map(getStreamingPart)], stamp: findLastStamp(rows), runEnd: findRunEnd(rows) }
}

/** What the rows of a reply say about its calls, by their ids. */
interface CallFacts {
  responses: Map<string, ToolResponsePayload>
  asked: Map<string, ApprovalAskedRow>
  decided: Map<string, ApprovalDecided>
}

/** Caches the part of each row and streaming text, so that an unchanged part is the same object and is not rendered again. */
const partCache = new WeakMap<MessageRow | StreamingText, Part>()

function getPart(row: MessageRow, facts: CallFacts): Part | null {
  const before = partCache.get(row)
  const part = row.type === 'TOOL_CALL' ? buildCallPart(row, facts) : (before ?? buildPart(row))
  if (before && part && isSameCall(before, part)) return before
  if (part) partCache.set(row, part)
  return part
}

const isSameCall = (a: Part, b: Part) =>
  (a.kind === 'tool' && b.kind === 'tool' && a.response === b.response && a.decision === b.decision) ||
  (a.kind === 'approval' && b.kind === 'approval' && a.row === b.row)

/** Builds the part of a call: a card while it waits for a decision, otherwise one line. */
function buildCallPart(row: Extract<MessageRow, { type: 'TOOL_CALL' }>, facts: CallFacts): Part {
  const { call_id: id, name, arguments: args } = row.payload
  const [asked, decision, response] = [
    facts.asked.get(id),
    facts.decided.get(id) ?? null,
    facts.responses.get(id) ?? null,
  ]
  if (asked && !decision && !response) return { kind: 'approval', key: row.id, row: asked }
  return { kind: 'tool', key: row.id, callId: id, name, args, response, isStreaming: false, decision }
}

function buildPart(row: MessageRow): Part | null {
  switch (row.type) {
    case 'THINKING': {
      const { text, seconds } = row.payload
      return { kind: 'thinking', key: row.id, text, seconds: seconds ?? null, isStreaming: false }
    }
    case 'TEXT_MESSAGE': {
      const { text, incomplete } = row.payload
      return { kind: 'text', key: row.id, text, incomplete: incomplete ?? false, isStreaming: false, row }
    }
    case 'TOOL_CALL':
    case 'TOOL_RESPONSE':
    case 'APPROVAL_ASKED':
    case 'APPROVAL_DECIDED':
    case 'COMPARISON':
    case 'FILE_MESSAGE':
      return null
    default:
      row satisfies SystemMessageRow
      return null
  }
}

function getStreamingPart(text: StreamingText): Part {
  const part = partCache.get(text) ?? buildStreamingPart(text)
  partCache.set(text, part)
  return part
}

function buildStreamingPart(text: StreamingText): Part {
  switch (text.part) {
    case 'thinking':
      return { kind: 'thinking', key: text.row_id, text: text.text, seconds: null, isStreaming: true }
    case 'arguments':
      return {
        kind: 'tool',
        key: text.row_id,
        callId: text.call_id ?? '',
        name: text.name ?? '',
        args: text.text,
        response: null,
        isStreaming: true,
        decision: null,
      }
    case 'text':
      return { kind: 'text', key: text.row_id, text: text.text, incomplete: false, isStreaming: true, row: null }
  }
}

const findLastStamp = (rows: readonly MessageRow[]) => rows.map(getStamp).findLast(stamp => stamp !== null) ?? null

/** Returns whether a message says that its run failed or was stopped. */
export const isRunEnd = (row: MessageRow): row is SystemMessageRow =>
  row.type === 'RUN_FAILED' || row.type === 'RUN_STOPPED'

/** Returns the id of the message that the run of a row has answered, or was to answer. */
function getAnsweredId(row: MessageRow): string | null {
  if (row.type === 'TEXT_MESSAGE') return row.payload.answers ?? null
  return isRunEnd(row) ? (row.payload.message_id ?? null) : null
}

/**
 * Returns whether a later run of the same agent has answered the message that the run of `end` was to answer, or has ended
 * without an answer as well. `log`: the messages in the order of `seq`.
 */
export function isTriedAgain(log: readonly MessageRow[], end: SystemMessageRow): boolean {
  const { message_id: answeredId, target_id: agentId } = end.payload
  if (!answeredId) return false
  for (let index = log.length - 1; index >= 0; index -= 1) {
    const row = log[index]
    if (!row || row.seq <= end.seq) return false
    const isOfAgent = (isRunEnd(row) ? row.payload.target_id : row.author_id) === agentId
    if (isOfAgent && getAnsweredId(row) === answeredId && getRunId(row) !== getRunId(end)) return true
  }
  return false
}

function findRunEnd(rows: readonly MessageRow[]): RunEnd | null {
  const row = rows.findLast(isRunEnd)
  if (!row) return null
  const about = row.payload
  return {
    kind: row.type === 'RUN_FAILED' ? 'failed' : 'stopped',
    code: about.code ?? null,
    by: about.actor_id ?? null,
    note: about.note ?? '',
    payerName: about.payer_name ?? '',
    budget: about.budget ?? null,
  }
}

/** Summarizes the arguments for a collapsed tool call: their values, without keys. */
export function summarizeArguments(args: string): string {
  try {
    const values: unknown = JSON.parse(args || '{}')
    if (typeof values !== 'object' || values === null) return args
    return Object.values(values)
      .map(value => (typeof value === 'string' ? value : JSON.stringify(value)))
      .join(', ')
  } catch {
    return ''
  }
}
