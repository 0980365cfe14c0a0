/** A reply taken apart: the rows of one run, and what of it still streams, as the parts that are drawn. Pure. */
import type { MessageRow, Stamp, SystemMessageRow, ToolResponsePayload } from '@/api'
import type { LiveText } from '@/realtime'
import { stampOf } from './comparison'

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

export function replyOf(rows: readonly MessageRow[], live: readonly LiveText[]): ReplyParts {
  const responses = new Map<string, ToolResponsePayload>()
  for (const row of rows) {
    if (row.type === 'TOOL_RESPONSE') responses.set(row.payload.tool_call_id, row.payload)
  }
  const parts = rows.flatMap(row => {
    const part = partOf(row, responses)
    return part ? [part] : []
  })
  return { parts: [...parts, ...live.map(livePart)], stamp: lastStampIn(rows), runEnd: runEndOf(rows) }
}

/** The part of each row and of each streaming text. It is the same object while its source is, so that it is drawn once. */
const known = new WeakMap<MessageRow | LiveText, Part>()

function partOf(row: MessageRow, responses: ReadonlyMap<string, ToolResponsePayload>): Part | null {
  const before = known.get(row)
  const response = row.type === 'TOOL_CALL' ? (responses.get(row.payload.call_id) ?? null) : null
  if (before && (before.kind !== 'tool' || before.response === response)) return before
  const part = newPartOf(row, response)
  if (part) known.set(row, part)
  return part
}

function newPartOf(row: MessageRow, response: ToolResponsePayload | null): Part | null {
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
      return null
    default:
      row satisfies SystemMessageRow
      return null
  }
}

function livePart(text: LiveText): Part {
  const part = known.get(text) ?? newLivePart(text)
  known.set(text, part)
  return part
}

function newLivePart(text: LiveText): Part {
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

const lastStampIn = (rows: readonly MessageRow[]) => rows.map(stampOf).findLast(stamp => stamp !== null) ?? null

const isEnd = (row: MessageRow): row is SystemMessageRow => row.type === 'RUN_FAILED' || row.type === 'RUN_STOPPED'

function runEndOf(rows: readonly MessageRow[]): RunEnd | null {
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

/** The arguments in short, for the folded row: the values, without the JSON around them. */
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
