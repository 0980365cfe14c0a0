/** From rows to what the log shows: days, groups, replies, comparisons, quiet lines. Pure. */
import type { ComparisonRow, MessageRow, RunRow, SystemMessageRow, TextMessageRow } from '@/api'
import { getTimeOfId } from '@/lib/ids'
import { sameItems } from '@/lib/sameItems'
import { dayKey, isSameMoment } from '@/lib/time'
import { getRunId, groupAnswers, isComparison } from './comparison'
import type { Unsent } from './outbox'
import { isHiddenMessage, isSameAction } from './quiet'

export type Item =
  | { kind: 'day'; key: string; at: string }
  | { kind: 'new'; key: string }
  | { kind: 'text'; key: string; row: TextMessageRow; more: boolean }
  | { kind: 'unsent'; key: string; entry: Unsent; more: boolean }
  | {
      kind: 'reply'
      key: string
      runId: string
      agentId: string | null
      rows: readonly MessageRow[]
      at: string
      last: boolean
      /** The message it answers, where that is not plain from its place. */
      answers: string | null
    }
  | {
      kind: 'comparison'
      key: string
      row: ComparisonRow
      production: readonly MessageRow[]
      draft: readonly MessageRow[]
    }
  | { kind: 'system'; key: string; row: SystemMessageRow; rows: readonly SystemMessageRow[] }

/** What an item says, as it was written: to be read when it cannot be drawn. */
export function getPlainText(item: Item): string {
  switch (item.kind) {
    case 'text':
    case 'system':
      return textsIn([item.row])
    case 'unsent':
      return item.entry.text
    case 'reply':
      return textsIn(item.rows)
    case 'comparison':
      return textsIn([item.row, ...item.production, ...item.draft])
    default:
      return ''
  }
}

const textsIn = (rows: readonly MessageRow[]) =>
  rows
    .filter(row => row.type === 'TEXT_MESSAGE' || row.type === 'COMPARISON')
    .map(row => row.payload.text)
    .filter(text => typeof text === 'string')
    .join('\n\n')

type Reply = Extract<Item, { kind: 'reply' }> & { rows: MessageRow[] }

const replyTypes = new Set<MessageRow['type']>([
  'TEXT_MESSAGE',
  'THINKING',
  'TOOL_CALL',
  'TOOL_RESPONSE',
  'RUN_FAILED',
  'RUN_STOPPED',
])
const newsTypes = new Set<MessageRow['type']>(['TEXT_MESSAGE', 'THINKING', 'TOOL_CALL', 'COMPARISON'])
const GROUP_MINUTES = 5
/** How far the times of two messages may be in another order than their numbers. */
const ORDER_MS = 60_000
/** So many items below its question a reply still says by its place what it answers. */
const FAR = 6
/** After so many messages in a row their author is named again. */
const GROUP_SIZE = 15

interface Input {
  messages: readonly MessageRow[]
  unsent: readonly Unsent[]
  /** Runs that are at work now. */
  active: readonly RunRow[]
  /** By run: when what is streaming now began (ms). */
  liveSince?: ReadonlyMap<string, number>
  /** What others wrote after this `seq` is new to the reader; null: nothing is. */
  newsAfter: number | null
  me: string
}

/** Whose reply it is. The line of an end is the system's, and about the agent. */
const agentOf = (row: MessageRow) => ('target_id' in row.payload ? row.payload.target_id : null) ?? row.author_id
/** The author of a message. A comparison is a system message with a person's question. */
export const getAuthorId = (row: MessageRow) => (isComparison(row) ? row.payload.actor_id : row.author_id)
/** The message that started the run which says this. */
const answersOf = (row: MessageRow) => (row.type === 'TEXT_MESSAGE' ? (row.payload.answers ?? null) : null)
const isReply = (row: MessageRow) => replyTypes.has(row.type) && getRunId(row) !== ''

/**
 * The items of a log, oldest first. A reply is the rows of one run; it stands where it began. What is written to the
 * agent between two of its steps stands between two parts of the reply.
 */
export const buildItems = (input: Input): readonly Item[] => new GrowingItems().update(input)

/** So many rows at the end are looked at again when the log changes. */
const TAIL = 100

interface Base {
  messages: readonly MessageRow[]
  newsAfter: number | null
  me: string
  answers: ReadonlyMap<string, readonly MessageRow[]>
  builder: Builder
}

/** The items of a log that changes: what stands long before its end is built once, and what did not change is the same object. */
export class GrowingItems {
  private base: Base | null = null
  private last: readonly Item[] = []

  constructor(private readonly tail = TAIL) {}

  update(input: Input): readonly Item[] {
    const { messages, unsent, active, liveSince = new Map(), newsAfter, me } = input
    const base = this.baseFor(input)
    const tail = messages.slice(base.messages.length)
    const builder = base.builder.fork(groupAnswers(tail))
    builder.addAll(messages, base.messages.length, messages.length, newsAfter, me)
    for (const run of active) builder.addWorking(run, liveSince.get(run.id))
    for (const entry of unsent) builder.addUnsent(entry)
    this.last = unchanged(this.last, builder.grouped(me))
    return this.last
  }

  private baseFor({ messages, newsAfter, me }: Input): Base {
    const { base } = this
    const isUsable =
      base !== null &&
      base.newsAfter === newsAfter &&
      base.me === me &&
      isStartOf(base.messages, messages) &&
      !isDivided(base, messages.slice(base.messages.length))
    if (isUsable && messages.length - base.messages.length <= 2 * this.tail) return base
    const length = Math.max(0, messages.length - this.tail)
    const longer = isUsable ? longerBase(base, messages, length) : null
    this.base = longer ?? newBase(messages, length, newsAfter, me)
    return this.base
  }
}

/** The base with the next rows, which are built on it; null where a comparison is among them. */
function longerBase(base: Base, messages: readonly MessageRow[], length: number): Base | null {
  const from = base.messages.length
  if (groupAnswers(messages.slice(from, length)).size > 0) return null
  const builder = base.builder.fork(new Map())
  builder.addAll(messages, from, length, base.newsAfter, base.me)
  builder.grouped(base.me)
  const longer = { ...base, messages: messages.slice(0, length), builder }
  return isDivided(longer, messages.slice(length)) ? null : longer
}

/** Loops and not functions: they go over the whole log with each frame. */
function isStartOf(start: readonly MessageRow[], messages: readonly MessageRow[]): boolean {
  for (let at = 0; at < start.length; at += 1) if (start[at] !== messages[at]) return false
  return true
}

/** All but the end of a log; nothing where a comparison stands on both sides. */
function newBase(messages: readonly MessageRow[], length: number, newsAfter: number | null, me: string): Base {
  const rows = messages.slice(0, length)
  const answers = groupAnswers(rows)
  const builder = new Builder(answers)
  builder.addAll(messages, 0, length, newsAfter, me)
  builder.grouped(me)
  const base = { messages: rows, newsAfter, me, answers, builder }
  return length > 0 && isDivided(base, messages.slice(length)) ? newBase(messages, 0, newsAfter, me) : base
}

/** Whether the answers of one comparison stand on both sides. */
function isDivided(base: Base, tail: readonly MessageRow[]): boolean {
  if (base.answers.size > 0 && tail.some(row => base.answers.has(getRunId(row)))) return true
  return [...groupAnswers(tail).keys()].some(runId => base.answers.has(runId) || base.builder.hasReply(runId))
}

/** Puts each item that is as it was before in its place again as the same object; returns the array of before where all are. */
function unchanged(before: readonly Item[], items: Item[]): readonly Item[] {
  let start = 0
  while (start < items.length && items[start] === before[start]) start += 1
  const known = new Map(before.slice(start).map(item => [item.key, item]))
  let isSameContent = before.length === items.length
  for (const [index, item] of items.slice(start).entries()) {
    const at = start + index
    const old = known.get(item.key)
    if (old && isSameItem(old, item)) items[at] = old
    isSameContent &&= items[at] === before[at]
  }
  return isSameContent ? before : items
}

function isSameItem(a: Item, b: Item): boolean {
  return Object.keys(b).every(name => isSameValue(a[name as keyof Item], b[name as keyof Item]))
}

const isSameValue = (a: unknown, b: unknown): boolean =>
  Object.is(a, b) || (Array.isArray(a) && Array.isArray(b) && sameItems(a, b))

function canResume(before: Item, item: Extract<Item, { kind: 'text' | 'unsent' }>, me: string): boolean {
  const { reply_to: replyTo, created_at: at } = item.kind === 'text' ? item.row : item.entry
  if (replyTo) return false
  if (before.kind === 'unsent') return true
  const author = item.kind === 'text' ? item.row.author_id : me
  return (
    before.kind === 'text' && before.row.author_id === author && isSameMoment(before.row.created_at, at, GROUP_MINUTES)
  )
}

const isMore = (item: Item | undefined) => (item?.kind === 'text' || item?.kind === 'unsent') && item.more

class Builder {
  private items: Item[] = []
  /** When each item began (ms), in the same order. */
  private times: number[] = []
  private day = ''
  private isMarked = false
  /** The last part of each reply, and when it began. */
  private open = new Map<string, { reply: Reply; since: number }>()
  private segments = new Map<string, number>()
  /** By run: when its last tool answered. The next step begins then. */
  private responses = new Map<string, number>()
  /** When people spoke. */
  private spoken: number[] = []
  /** The items that were made here; others belong to another builder and are never written to. */
  private readonly own = new Set<Item>()
  /** Items before this one are in their groups already. */
  private groupedTo = 0

  /** `answers`: by run, the messages of comparisons. */
  constructor(private readonly answers: ReadonlyMap<string, readonly MessageRow[]>) {}

  /** A builder that goes on from here and leaves this one as it is. */
  fork(answers: ReadonlyMap<string, readonly MessageRow[]>): Builder {
    const fork = new Builder(answers)
    fork.items = [...this.items]
    fork.times = [...this.times]
    fork.day = this.day
    fork.isMarked = this.isMarked
    fork.open = new Map(this.open)
    fork.segments = new Map(this.segments)
    fork.responses = new Map(this.responses)
    fork.spoken = [...this.spoken]
    fork.groupedTo = this.items.length
    return fork
  }

  hasReply(runId: string): boolean {
    return this.segments.has(runId)
  }

  /** Adds the rows between two places of the log. */
  addAll(messages: readonly MessageRow[], from: number, to: number, newsAfter: number | null, me: string): void {
    for (let at = from; at < to; at += 1) {
      const row = messages[at]
      if (!row || this.answers.has(getRunId(row)) || isHiddenMessage(row)) continue
      const isNews = newsAfter !== null && row.seq > newsAfter && newsTypes.has(row.type) && getAuthorId(row) !== me
      this.add(row, isNews, [row, messages[at + 1], messages[at + 2]])
    }
  }

  /** The items, in groups: of the messages of one person in a row only the first names its author. */
  grouped(me: string): Item[] {
    // From the beginning of the last group that is known.
    let at = Math.min(this.groupedTo, this.items.length)
    while (at > 0 && isMore(this.items[at - 1])) at -= 1
    let count = Math.min(at, 1)
    for (; at < this.items.length; at += 1) {
      const [before, item] = [this.items[at - 1], this.items[at]]
      if (item?.kind !== 'text' && item?.kind !== 'unsent') continue
      const more = before !== undefined && count < GROUP_SIZE && canResume(before, item, me)
      count = more ? count + 1 : 1
      if (item.more !== more) this.items[at] = { ...item, more }
    }
    this.groupedTo = this.items.length
    return this.items
  }

  /** `step`: the row and the two after it, which may be of the same step. */
  private add(row: MessageRow, isNews: boolean, step: readonly (MessageRow | undefined)[]): void {
    const at = Date.parse(row.created_at)
    this.dayOf(row.created_at, at)
    if (isReply(row)) {
      const reply = this.addToReply(row, this.beganAt(row, step))
      if (isNews) this.markNew(reply)
      return
    }
    if (isNews) this.markNew(null)
    switch (row.type) {
      case 'TEXT_MESSAGE':
        this.push({ kind: 'text', key: row.id, row, more: false }, at)
        this.spoken.push(at)
        break
      case 'COMPARISON':
        if (isComparison(row)) this.push(this.comparison(row), at)
        this.spoken.push(at)
        break
      case 'THINKING':
      case 'TOOL_CALL':
      case 'TOOL_RESPONSE':
        // They are shown in the reply of their run.
        break
      default:
        this.addSystem(row, at)
    }
  }

  addWorking(run: RunRow, liveSince: number | undefined): void {
    if (run.stamp?.compared) return
    const since = liveSince === undefined ? undefined : Math.max(liveSince, this.responses.get(run.id) ?? 0)
    const open = this.open.get(run.id)
    if (open && (since === undefined || !this.isBetween(open.since, since))) return
    const at = run.started_at ?? run.created_at
    const reply = this.begin(run.id, run.agent_id, at, since ?? Date.parse(at))
    if (!open) this.quote(reply, run.trigger_id ?? null)
  }

  addUnsent(entry: Unsent): void {
    this.items.push({ kind: 'unsent', key: entry.id, entry, more: false })
  }

  /** A line of its own, or one with the rows of the same act. */
  private addSystem(row: SystemMessageRow, at: number): void {
    const index = this.items.length - 1
    const before = this.items[index]
    if (before?.kind === 'system' && isSameAction(before.rows, row))
      this.items[index] = { ...before, rows: [...before.rows, row] }
    else this.push({ kind: 'system', key: row.id, row, rows: [row] }, at)
  }

  private push(item: Item, at: number): void {
    this.items.push(item)
    this.times.push(at)
  }

  private insert(index: number, item: Item, at: number): void {
    this.items.splice(index, 0, item)
    this.times.splice(index, 0, at)
    this.groupedTo = Math.min(this.groupedTo, index)
  }

  /** The last part of a reply, to be written to. */
  private writable(runId: string): Reply | null {
    const open = this.open.get(runId)
    if (!open || this.own.has(open.reply)) return open?.reply ?? null
    const reply = { ...open.reply, rows: [...open.reply.rows] }
    this.items[this.items.lastIndexOf(open.reply)] = reply
    this.own.add(reply)
    this.open.set(runId, { ...open, reply })
    return reply
  }

  /** The line above what is new: before this reply, or here. */
  private markNew(reply: Reply | null): void {
    if (this.isMarked) return
    this.isMarked = true
    const at = reply ? this.items.lastIndexOf(reply) : this.items.length
    this.insert(at, { kind: 'new', key: 'new' }, this.times[at] ?? this.times.at(-1) ?? 0)
  }

  private dayOf(iso: string, at: number): void {
    const day = dayKey(iso)
    if (day === this.day) return
    this.day = day
    this.push({ kind: 'day', key: `day ${day}`, at: iso }, at)
  }

  private comparison(row: ComparisonRow): Item {
    const { production, draft } = row.payload
    const answer = (runId: string) => this.answers.get(runId) ?? []
    return {
      kind: 'comparison',
      key: row.id,
      row,
      production: answer(production.run_id),
      draft: answer(draft.run_id),
    }
  }

  /**
   * When a row began. A text's id was made when its step began; its thinking and its calls go with it. A later step
   * begins when the tools before it have answered.
   */
  private beganAt(row: MessageRow, step: readonly (MessageRow | undefined)[]): number {
    const runId = getRunId(row)
    const text = step.find(each => each?.type === 'TEXT_MESSAGE' && getRunId(each) === runId)
    const began = text ? getTimeOfId(text.id) : null
    const response = this.responses.get(runId) ?? null
    if (row.type === 'TOOL_RESPONSE') this.responses.set(runId, Date.parse(row.created_at))
    if (row.type === 'TOOL_RESPONSE' || row.type.startsWith('RUN_'))
      return this.open.get(runId)?.since ?? Date.parse(row.created_at)
    if (began === null) return response ?? Date.parse(row.created_at)
    return Math.max(began, response ?? 0)
  }

  /** Whether somebody spoke after the first and not after the second of two moments. */
  private isBetween(from: number, to: number): boolean {
    for (let index = this.spoken.length - 1; index >= 0; index -= 1) {
      const at = this.spoken[index] ?? 0
      if (at <= to && at > from) return true
      // They stand in the order of their numbers, which is that of their times but for moments.
      if (at < from - ORDER_MS) return false
    }
    return false
  }

  private addToReply(row: MessageRow, since: number): Reply {
    const open = this.open.get(getRunId(row))
    const fits = open && !this.isBetween(open.since, since)
    const reply = fits
      ? (this.writable(getRunId(row)) ?? open.reply)
      : this.begin(getRunId(row), agentOf(row), row.created_at, since)
    reply.rows.push(row)
    if (this.segments.get(getRunId(row)) === 1) this.quote(reply, answersOf(row))
    return reply
  }

  /** Lets a reply name the message that it answers where somebody asked something else in between, or where that is far above. */
  private quote(reply: Reply, id: string | null): void {
    if (id === null || reply.answers !== null) return
    let at = this.items.lastIndexOf(reply) - 1
    for (let steps = 0; at >= 0 && steps <= FAR; at -= 1, steps += 1) {
      const item = this.items[at]
      if (item?.kind === 'text' && item.row.id === id) return
      if (item?.kind === 'reply' && item.rows.some(row => row.id === id)) return
      if (item?.kind === 'text' || (item?.kind === 'reply' && item.agentId === reply.agentId)) break
    }
    reply.answers = id
  }

  private begin(runId: string, agentId: string | null, at: string, since: number): Reply {
    const segment = (this.segments.get(runId) ?? 0) + 1
    this.segments.set(runId, segment)
    // Only the last part of a reply carries the stamp and what streams.
    const before = this.writable(runId)
    if (before) before.last = false
    const reply: Reply = {
      kind: 'reply',
      key: `${runId} ${segment}`,
      runId,
      agentId,
      rows: [],
      at,
      last: true,
      answers: null,
    }
    this.own.add(reply)
    this.open.set(runId, { reply, since })
    let index = this.items.length
    while (index > 0 && (this.times[index - 1] ?? 0) > since) index -= 1
    this.insert(index, reply, since)
    return reply
  }
}
