/** From rows to what the log shows: days, groups, replies, comparisons, quiet lines. Pure. */
import type { MessageRow, RunRow } from '@/api'
import { dayKey, isSameMoment } from '@/lib/time'
import { answersIn, comparisonOf, runOf } from './comparison'
import type { Unsent } from './outbox'

export type Item =
  | { kind: 'day'; key: string; at: string }
  | { kind: 'new'; key: string }
  | { kind: 'said'; key: string; row: MessageRow; more: boolean }
  | { kind: 'unsent'; key: string; entry: Unsent; more: boolean }
  | {
      kind: 'reply'
      key: string
      runId: string
      agentId: string | null
      rows: readonly MessageRow[]
      at: string
      last: boolean
    }
  | {
      kind: 'comparison'
      key: string
      row: MessageRow
      production: readonly MessageRow[]
      draft: readonly MessageRow[]
    }
  | { kind: 'system'; key: string; row: MessageRow }

type Reply = Extract<Item, { kind: 'reply' }> & { rows: MessageRow[] }

const replyTypes = new Set(['TEXT_MESSAGE', 'THINKING', 'TOOL_CALL', 'TOOL_RESPONSE', 'RUN_FAILED', 'RUN_STOPPED'])
const GROUP_MINUTES = 5

interface Input {
  messages: readonly MessageRow[]
  unsent: readonly Unsent[]
  /** Runs that are at work now. */
  active: readonly RunRow[]
  /** When the chat was opened: the last line this person had read, and the last there was. */
  atOpening: { readSeq: number; lastSeq: number }
  me: string
}

/** Whose reply it is. The line of an end is the system's, and about the agent. */
const agentOf = (row: MessageRow) => (row.payload as { target_id?: string | null }).target_id ?? row.author_id
/** Who said it. A comparison is the system's line, and somebody's question. */
const authorOf = (row: MessageRow) => (row.type === 'COMPARISON' ? comparisonOf(row).actor_id : row.author_id)
const isReply = (row: MessageRow) => replyTypes.has(row.type) && runOf(row) !== ''

/** The items of a log, oldest first. A reply is the rows of one run, in one place until a person speaks again. */
export function itemsOf({ messages, unsent, active, atOpening, me }: Input): Item[] {
  const answers = answersIn(messages)
  const builder = new Builder(answers)
  // Who has read nothing yet is new here: then everything is news, and nothing stands out.
  const { readSeq, lastSeq } = atOpening.readSeq > 0 ? atOpening : { readSeq: 0, lastSeq: 0 }
  for (const row of messages) {
    if (answers.has(runOf(row))) continue
    const isNews = row.seq <= lastSeq && row.seq > readSeq && authorOf(row) !== me
    builder.add(row, isNews)
  }
  builder.addWorking(active)
  for (const entry of unsent) builder.addUnsent(entry, me)
  return builder.items
}

class Builder {
  readonly items: Item[] = []
  private day = ''
  private isMarked = false
  /** Replies that still take rows: nobody has spoken since they began. */
  private readonly open = new Map<string, Reply>()
  private readonly segments = new Map<string, number>()

  /** `answers`: by run, what is said in comparisons. */
  constructor(private readonly answers: ReadonlyMap<string, readonly MessageRow[]>) {}

  private markNew(): void {
    if (this.isMarked) return
    this.isMarked = true
    this.items.push({ kind: 'new', key: 'new' })
  }

  add(row: MessageRow, isNews: boolean): void {
    this.dayOf(row.created_at)
    if (isNews) this.markNew()
    if (isReply(row)) this.addToReply(row)
    else if (row.type === 'TEXT_MESSAGE') this.addSaid(row)
    else if (row.type === 'COMPARISON') this.addComparison(row)
    else this.items.push({ kind: 'system', key: row.id, row })
  }

  addWorking(active: readonly RunRow[]): void {
    for (const run of active) {
      if (!this.open.has(run.id) && !run.stamp?.compared)
        this.begin(run.id, run.agent_id, run.started_at ?? run.created_at)
    }
  }

  addUnsent(entry: Unsent, me: string): void {
    const before = this.items.at(-1)
    const more = !entry.reply_to && before !== undefined && this.continues(before, me, entry.created_at)
    this.items.push({ kind: 'unsent', key: entry.id, entry, more })
  }

  private dayOf(at: string): void {
    const day = dayKey(at)
    if (day === this.day) return
    this.day = day
    this.items.push({ kind: 'day', key: `day ${day}`, at })
  }

  private addSaid(row: MessageRow): void {
    const before = this.items.at(-1)
    const more = !row.reply_to && before !== undefined && this.continues(before, row.author_id, row.created_at)
    this.items.push({ kind: 'said', key: row.id, row, more })
    this.open.clear()
  }

  private addComparison(row: MessageRow): void {
    const { production, draft } = comparisonOf(row)
    const answer = (runId: string) => this.answers.get(runId) ?? []
    this.items.push({
      kind: 'comparison',
      key: row.id,
      row,
      production: answer(production.run_id),
      draft: answer(draft.run_id),
    })
    this.open.clear()
  }

  private continues(before: Item, author: string | null, at: string): boolean {
    if (before.kind === 'unsent') return true
    return (
      before.kind === 'said' &&
      before.row.author_id === author &&
      isSameMoment(before.row.created_at, at, GROUP_MINUTES)
    )
  }

  private addToReply(row: MessageRow): void {
    const reply = this.open.get(runOf(row)) ?? this.begin(runOf(row), agentOf(row), row.created_at)
    reply.rows.push(row)
  }

  private begin(runId: string, agentId: string | null, at: string): Reply {
    const segment = (this.segments.get(runId) ?? 0) + 1
    this.segments.set(runId, segment)
    this.endEarlier(runId)
    const reply: Reply = { kind: 'reply', key: `${runId} ${segment}`, runId, agentId, rows: [], at, last: true }
    this.open.set(runId, reply)
    this.items.push(reply)
    return reply
  }

  /** Only the last part of a reply carries the stamp and what streams. */
  private endEarlier(runId: string): void {
    for (const item of this.items) if (item.kind === 'reply' && item.runId === runId) item.last = false
  }
}
