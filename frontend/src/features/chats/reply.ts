/** A reply taken apart: the rows of one run, and what of it still streams, as the parts that are drawn. Pure. */
import type {
  AboutPayload,
  MessageRow,
  Stamp,
  TextPayload,
  ThinkingPayload,
  ToolCallPayload,
  ToolResponsePayload,
} from '@/api'
import { type LiveText, thinkingId } from '@/realtime'

export type Part =
  | { kind: 'thinking'; key: string; text: string; seconds: number | null; live: boolean }
  | { kind: 'text'; key: string; text: string; incomplete: boolean; live: boolean; row: MessageRow | null }
  | { kind: 'tool'; key: string; name: string; args: string; response: ToolResponsePayload | null; live: boolean }

export interface Ending {
  kind: 'failed' | 'stopped'
  code: string | null
  by: string | null
  /** What the service said about it, in its own words. */
  note: string
}

export interface ReplyParts {
  parts: Part[]
  stamp: Stamp | null
  ending: Ending | null
}

const payload = <T>(row: MessageRow) => row.payload as unknown as T

export function replyOf(rows: readonly MessageRow[], live: readonly LiveText[]): ReplyParts {
  const responses = new Map<string, ToolResponsePayload>()
  for (const row of rows) {
    if (row.type === 'TOOL_RESPONSE') responses.set(payload<ToolResponsePayload>(row).tool_call_id, payload(row))
  }
  const parts = rows.flatMap(row => partOf(row, responses))
  return { parts: [...parts, ...live.map(livePart)], stamp: stampOf(rows), ending: endingOf(rows) }
}

function partOf(row: MessageRow, responses: ReadonlyMap<string, ToolResponsePayload>): Part[] {
  switch (row.type) {
    case 'THINKING': {
      const { text, seconds } = payload<ThinkingPayload>(row)
      return [{ kind: 'thinking', key: row.id, text, seconds: seconds ?? null, live: false }]
    }
    case 'TEXT_MESSAGE': {
      const { text, incomplete } = payload<TextPayload>(row)
      return [{ kind: 'text', key: row.id, text, incomplete: incomplete ?? false, live: false, row }]
    }
    case 'TOOL_CALL': {
      const { call_id, name, arguments: args } = payload<ToolCallPayload>(row)
      return [{ kind: 'tool', key: call_id, name, args, response: responses.get(call_id) ?? null, live: false }]
    }
    default:
      return []
  }
}

function livePart(text: LiveText): Part {
  const key = `${text.message_id} ${text.part} ${text.index}`
  switch (text.part) {
    case 'thinking':
      return { kind: 'thinking', key: thinkingId(text.message_id), text: text.text, seconds: null, live: true }
    case 'arguments':
      return {
        kind: 'tool',
        key: text.call_id ?? key,
        name: text.name ?? '',
        args: text.text,
        response: null,
        live: true,
      }
    case 'text':
      return { kind: 'text', key: text.message_id, text: text.text, incomplete: false, live: true, row: null }
  }
}

function stampOf(rows: readonly MessageRow[]): Stamp | null {
  const stamps = rows.map(row => payload<{ stamp?: Stamp | null }>(row).stamp).filter(stamp => stamp != null)
  return stamps.at(-1) ?? null
}

function endingOf(rows: readonly MessageRow[]): Ending | null {
  const row = rows.findLast(each => each.type === 'RUN_FAILED' || each.type === 'RUN_STOPPED')
  if (!row) return null
  const about = payload<AboutPayload>(row)
  return {
    kind: row.type === 'RUN_FAILED' ? 'failed' : 'stopped',
    code: about.code ?? null,
    by: about.actor_id ?? null,
    note: about.note ?? '',
  }
}

/** The arguments in short, for the folded row: the values, without the JSON around them. */
export function inShort(args: string): string {
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
