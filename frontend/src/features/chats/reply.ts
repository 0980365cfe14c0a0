/** Builds the parts of a reply from the rows of one run and its streaming texts. Pure functions. */
import type { MessageRow, Stamp, SystemMessageRow, ToolResponsePayload } from '@/api'
import type { LiveText } from '@/realtime'
import { getStamp } from './comparison'

export type Part =
  | { kind: 'thinking'; key: string; text: string; seconds: number | null; live: boolean }
  | { kind: 'text'; key: string; text: string; incomplete: boolean; live: boolean; row: MessageRow | null }
  | { kind: 'tool'; key: string; name: string; args: string; response: ToolResponsePayload | null; live: boolean }

export interface RunEnd {
  kind: 'failed' | 'stopped'
  code: string | null
  by: string | null
  /** The provider's own error message. */
  note: string
}

export interface ReplyParts {
  parts: Part[]
  stamp: Stamp | null
  runEnd: RunEnd | null
}

export function buildReply(rows: readonly MessageRow[], live: readonly LiveText[]): ReplyParts {
  const responses = new Map<string, ToolResponsePayload>()
  for (const row of rows) {
    if (row.type === 'TOOL_RESPONSE') responses.set(row.payload.tool_call_id, row.payload)
  }
  const parts = rows.flatMap(row => {
    const part = getPart(row, responses)
    return part ? [part] : []
  })
  return { parts: [...parts, ...live.map(getLivePart)], stamp: findLastStamp(rows), runEnd: findRunEnd(rows) }
}

/** Caches the part of each row and streaming text, so that an unchanged part is the same object and is not rendered again. */
const partCache = new WeakMap<MessageRow | LiveText, Part>()

function getPart(row: MessageRow, responses: ReadonlyMap<string, ToolResponsePayload>): Part | null {
  const before = partCache.get(row)
  const response = row.type === 'TOOL_CALL' ? (responses.get(row.payload.call_id) ?? null) : null
  if (before && (before.kind !== 'tool' || before.response === response)) return before
  const part = buildPart(row, response)
  if (part) partCache.set(row, part)
  return part
}

function buildPart(row: MessageRow, response: ToolResponsePayload | null): Part | null {
  switch (row.type) {
    case 'THINKING': {
      const { text, seconds } = row.payload
      return { kind: 'thinking', key: row.id, text, seconds: seconds ?? null, live: false }
    }
    case 'TEXT_MESSAGE': {
      const { text, incomplete } = row.payload
      return { kind: 'text', key: row.id, text, incomplete: incomplete ?? false, live: false, row }
    }
    case 'TOOL_CALL': {
      const { name, arguments: args } = row.payload
      return { kind: 'tool', key: row.id, name, args, response, live: false }
    }
    case 'TOOL_RESPONSE':
    case 'COMPARISON':
    case 'FILE_MESSAGE':
      return null
    default:
      row satisfies SystemMessageRow
      return null
  }
}

function getLivePart(text: LiveText): Part {
  const part = partCache.get(text) ?? buildLivePart(text)
  partCache.set(text, part)
  return part
}

function buildLivePart(text: LiveText): Part {
  switch (text.part) {
    case 'thinking':
      return { kind: 'thinking', key: text.row_id, text: text.text, seconds: null, live: true }
    case 'arguments':
      return {
        kind: 'tool',
        key: text.row_id,
        name: text.name ?? '',
        args: text.text,
        response: null,
        live: true,
      }
    case 'text':
      return { kind: 'text', key: text.row_id, text: text.text, incomplete: false, live: true, row: null }
  }
}

const findLastStamp = (rows: readonly MessageRow[]) => rows.map(getStamp).findLast(stamp => stamp !== null) ?? null

const isEnd = (row: MessageRow): row is SystemMessageRow => row.type === 'RUN_FAILED' || row.type === 'RUN_STOPPED'

function findRunEnd(rows: readonly MessageRow[]): RunEnd | null {
  const row = rows.findLast(isEnd)
  if (!row) return null
  const about = row.payload
  return {
    kind: row.type === 'RUN_FAILED' ? 'failed' : 'stopped',
    code: about.code ?? null,
    by: about.actor_id ?? null,
    note: about.note ?? '',
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
