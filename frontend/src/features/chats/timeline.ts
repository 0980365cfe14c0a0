/** Builds the items of the log from rows: days, messages (texts, files), replies, comparisons, system messages. Pure functions. */
import type {
  BoardRow,
  ComparisonRow,
  FileMessageRow,
  MessageRow,
  RunRow,
  SystemMessageRow,
  TextMessageRow,
} from '@/api'
import { getTimeOfId } from '@/lib/ids'
import { sameItems } from '@/lib/sameItems'
import { getDayKey, isWithinMinutes } from '@/lib/time'
import { getRunId, groupAnswers, isComparison, listComparedRuns } from './comparison'
import { isHiddenMessage, isSameAction } from './groupedMessages'
import { listOtherRuns } from './otherAnswers'
import type { Unsent } from './outbox'
import {
  type BoardsByCall,
  containsRow,
  isTaskId,
  listTree,
  NestedLog,
  type NestedRows,
  noSubAgents,
  type SubAgent,
} from './subAgents'

/** Where a board is shown: at a call of its supervisor, or below a message. */
type BoardPlace = Pick<BoardRow, 'id' | 'supervisor_run_id' | 'call_id' | 'message_id' | 'created_at'>

/** A board at the place where it is shown, with its runs that are loaded. */
export interface PlacedBoard {
  id: string
  /** The call that made its plan; null if a message shows it. */
  callId: string | null
  runs: readonly SubAgent[]
}

export const noBoards: readonly PlacedBoard[] = []

export type Item =
  | { kind: 'day'; key: string; at: string }
  | { kind: 'new'; key: string }
  /** Older messages above it are summarised. */
  | { kind: 'summary'; key: string }
  /** `continuesAuthor`: it continues the messages of the same author above it, so its header is not repeated. */
  | { kind: 'message'; key: string; row: TextMessageRow | FileMessageRow; continuesAuthor: boolean }
  | { kind: 'unsent'; key: string; entry: Unsent; continuesAuthor: boolean }
  | {
      /** A section of a reply: its rows up to a message that reached the agent. */
      kind: 'reply'
      key: string
      runId: string
      agentId: string | null
      rows: readonly MessageRow[]
      /** The rows of the same reply that are shown further up, because others wrote in between. */
      earlierRows: readonly MessageRow[]
      at: string
      last: boolean
      /** The id of the message that it answers, if that is not clear from its position. */
      answeredId: string | null
      /** The sub-agents that work, or have worked, for its calls. */
      subAgents: readonly SubAgent[]
      /** The boards that its calls have made. */
      boards: readonly PlacedBoard[]
      /** The runs of all answers in its place, of which it is one; empty if there are no others. */
      answers: readonly string[]
      /** Whether agents read another answer in its place. */
      isUnused: boolean
      /** The rows of the first answer, if another one is shown in its place. */
      replacedRows: readonly MessageRow[]
    }
  /** A sub-agent until the page with the call of its caller is loaded. */
  | { kind: 'subAgent'; key: string; subAgent: SubAgent }
  /** A board until the page with the message or the call is loaded at which it is shown. */
  | { kind: 'board'; key: string; boards: readonly PlacedBoard[]; at: string }
  | {
      kind: 'comparison'
      key: string
      row: ComparisonRow
      production: readonly MessageRow[]
      draft: readonly MessageRow[]
    }
  /** `row` is the first of `rows`, which are shown as one. */
  | {
      kind: 'system'
      key: string
      row: SystemMessageRow
      rows: readonly SystemMessageRow[]
      /** The board that the message shows. */
      boards: readonly PlacedBoard[]
    }

/** Returns the last `seq` of an item, without answers of a comparison and rows of sub-agents in a reply; 0 if it has none. */
export function getLastSeq(item: Item | undefined): number {
  switch (item?.kind) {
    case 'message':
    case 'comparison':
      return item.row.seq
    case 'system':
      return item.rows.at(-1)?.seq ?? 0
    case 'reply':
      return (item.replacedRows.at(-1) ?? item.rows.at(-1))?.seq ?? 0
    case 'subAgent':
      return item.subAgent.rows.at(-1)?.seq ?? 0
    default:
      return 0
  }
}

/** Inserts a line below the last summarised message, whose number is `through`, if messages above and below it are loaded. */
export function addSummaryLine(items: readonly Item[], through: number | null): readonly Item[] {
  if (through === null) return items
  const index = items.findIndex(item => getLastSeq(item) > through)
  if (index < 0 || !items.slice(0, index).some(item => getLastSeq(item) > 0)) return items
  return [...items.slice(0, index), { kind: 'summary', key: 'summary' }, ...items.slice(index)]
}

/** Returns whether a message is shown in an item. */
export function containsMessage(item: Item, id: string): boolean {
  switch (item.kind) {
    case 'message':
      return item.row.id === id
    case 'system':
      return item.rows.some(row => row.id === id) || containsRowOfBoard(item.boards, id)
    case 'reply':
      return (
        item.rows.some(row => row.id === id) ||
        item.replacedRows.some(row => row.id === id) ||
        containsRow(item.subAgents, id) ||
        containsRowOfBoard(item.boards, id)
      )
    case 'board':
      return containsRowOfBoard(item.boards, id)
    case 'subAgent':
      return containsRow([item.subAgent], id)
    case 'comparison':
      return [item.row, ...item.production, ...item.draft].some(row => row.id === id)
    default:
      return false
  }
}

const containsRowOfBoard = (boards: readonly PlacedBoard[], id: string) =>
  boards.some(board => containsRow(board.runs, id))

/** Returns the source text of an item, shown when it cannot be rendered. */
export function getPlainText(item: Item): string {
  switch (item.kind) {
    case 'message':
      return joinTexts([item.row])
    case 'unsent':
      return item.entry.text
    case 'reply':
      return joinTexts(item.rows)
    case 'subAgent':
      return joinTexts(item.subAgent.rows)
    case 'comparison':
      return joinTexts([item.row, ...item.production, ...item.draft])
    default:
      return ''
  }
}

const joinTexts = (rows: readonly MessageRow[]) =>
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
  'APPROVAL_ASKED',
  'APPROVAL_DECIDED',
  'RUN_FAILED',
  'RUN_STOPPED',
])
/** The first new message of these types has the "new" divider above it; an answer of a comparison, above the comparison. */
const unreadTypes = new Set<MessageRow['type']>(['TEXT_MESSAGE', 'FILE_MESSAGE', 'THINKING', 'TOOL_CALL'])
const GROUP_MINUTES = 5
/** Messages are sorted by `seq`; their times may differ from that order by this much, in ms. */
const MAX_DISORDER_MS = 60_000
/** A reply with more items than this between it and its question quotes the question. */
const MAX_ITEMS_TO_QUESTION = 6
/** Number of consecutive messages after which the author is shown again. */
const GROUP_SIZE = 15

interface Input {
  messages: readonly MessageRow[]
  /** The rows of other answers, also those that are not among `messages`. */
  otherAnswers?: readonly MessageRow[]
  /** Shows one of the answers in the place of each first answer that has others. */
  placeAnswers?: ((items: readonly Item[]) => readonly Item[]) | undefined
  unsent: readonly Unsent[]
  /** The active runs. Those of sub-agents are shown in the replies of their callers. */
  active: readonly RunRow[]
  /** The known runs of sub-agents. */
  subAgentRuns?: readonly RunRow[]
  /** The known boards. */
  boards?: readonly BoardPlace[]
  /** The ids of the boards that have not ended, which are shown in any case. */
  activeBoards?: ReadonlySet<string>
  boardsByCall?: BoardsByCall
  /** The time at which the streaming step of each run began, in ms, by run id. */
  streamingSince?: ReadonlyMap<string, number>
  /** Messages of others after this `seq` are new to the reader; null if there are none. */
  unreadAfter: number | null
  me: string
}

/** Returns the id of the agent of a reply. The end of a run is a system message with the agent as its target. */
const getAgentId = (row: MessageRow) => ('target_id' in row.payload ? row.payload.target_id : null) ?? row.author_id
/** Returns the id of the message that a text message of a run answers. */
const getAnsweredId = (row: MessageRow) => (row.type === 'TEXT_MESSAGE' ? (row.payload.answers ?? null) : null)
const isPartOfReply = (row: MessageRow) => replyTypes.has(row.type) && getRunId(row) !== ''

/**
 * Builds the items of a log, oldest first. A reply is the rows of one run, at the position where it began. A message
 * that reaches the agent between two steps divides the reply into two sections.
 */
export const buildItems = (input: Input): readonly Item[] => new GrowingItems().update(input)

/** Number of rows at the end that are built again when the log changes. */
const TAIL_LENGTH = 100

/** The beginning of the log, whose items are built once; the rest is the tail. */
interface Base {
  messages: readonly MessageRow[]
  unreadAfter: number | null
  me: string
  /** The messages of the answers of comparisons, by run id. */
  comparisonAnswers: ReadonlyMap<string, readonly MessageRow[]>
  builder: Builder
}

/** The items of a growing log: items far from the end are built once, and an unchanged item is the same object. */
export class GrowingItems {
  private base: Base | null = null
  private last: readonly Item[] = []
  private readonly nestedLog = new NestedLog()
  private placedBoards = new Map<string, PlacedBoard>()

  constructor(private readonly tail = TAIL_LENGTH) {}

  update(input: Input): readonly Item[] {
    const { unsent, active, subAgentRuns = [], streamingSince = new Map(), unreadAfter, me } = input
    const nested = this.nestedLog.update(input.messages, subAgentRuns, input.boardsByCall)
    const boards = this.placeBoards(input.boards ?? [], nested)
    const otherRuns = listOtherRuns(input.otherAnswers ?? noRows, active)
    const messages = leaveOutAnswers(nested.own, otherRuns)
    const base = this.getBase({ ...input, messages })
    const tail = messages.slice(base.messages.length)
    const builder = base.builder.fork(groupAnswers(tail))
    builder.addAll(messages, base.messages.length, messages.length, unreadAfter, me)
    for (const run of active)
      if (!run.parent_id && !run.metadata && !otherRuns.has(run.id))
        builder.addActiveRun(run, streamingSince.get(run.id))
    builder.addSubAgents(nested, otherRuns)
    for (const { place, board } of boards)
      if (board.runs.length > 0 || input.activeBoards?.has(board.id)) builder.addBoard(place, board, messages)
    for (const entry of unsent) builder.addUnsent(entry)
    const grouped = builder.groupItems(me)
    const items = showBoards(placeSubAgents(input.placeAnswers?.(grouped) ?? grouped, nested), boards)
    this.last = reuseItems(this.last, items)
    return this.last
  }

  /** Returns the boards with their runs. An unchanged one is the same object. */
  private placeBoards(places: readonly BoardPlace[], { byBoard }: NestedRows): BoardAtPlace[] {
    const boards = places.map(place => {
      const runs = byBoard.get(place.id) ?? noSubAgents
      const before = this.placedBoards.get(place.id)
      const callId = place.supervisor_run_id ? place.call_id : null
      const isSame = before && before.callId === callId && sameItems(before.runs, runs)
      return { place, board: isSame ? before : { id: place.id, callId, runs } }
    })
    this.placedBoards = new Map(boards.map(({ board }) => [board.id, board]))
    return boards
  }

  private getBase({ messages, unreadAfter, me }: Input): Base {
    const { base } = this
    const canReuse =
      base !== null &&
      base.unreadAfter === unreadAfter &&
      base.me === me &&
      startsWithRows(base.messages, messages) &&
      !isDivided(base, messages.slice(base.messages.length))
    if (canReuse && messages.length - base.messages.length <= 2 * this.tail) return base
    const length = Math.max(0, messages.length - this.tail)
    const extended = canReuse ? extendBase(base, messages, length) : null
    this.base = extended ?? buildBase(messages, length, unreadAfter, me)
    return this.base
  }
}

const noRows: readonly MessageRow[] = []
const noAnswers: readonly string[] = []

/** Returns the rows without those of other answers, and without the files of answers that are not in use. */
function leaveOutAnswers(messages: readonly MessageRow[], otherRuns: ReadonlySet<string>): readonly MessageRow[] {
  if (otherRuns.size === 0) return messages
  return messages.filter(row => !(isPartOfReply(row) && otherRuns.has(getRunId(row))) && !isUnusedFile(row))
}

const isUnusedFile = (row: MessageRow) => row.type === 'FILE_MESSAGE' && row.is_unused

interface BoardAtPlace {
  place: BoardPlace
  board: PlacedBoard
}

/** Returns the items with each board in the section of the reply that has its call (the first one while the call is not loaded), or at its message. */
function showBoards(items: Item[], boards: readonly BoardAtPlace[]): Item[] {
  if (boards.length === 0) return items
  const shown = [...items]
  const add = (index: number, board: PlacedBoard) => {
    const item = shown[index]
    if (item?.kind === 'reply' || item?.kind === 'system') shown[index] = { ...item, boards: [...item.boards, board] }
  }
  for (const { place, board } of boards) {
    if (place.supervisor_run_id === null) {
      add(
        items.findLastIndex(item => item.kind === 'system' && item.row.id === place.message_id),
        board,
      )
      continue
    }
    const isOfRun = (item: Item) => item.kind === 'reply' && item.runId === place.supervisor_run_id
    const hasCall = (item: Item) =>
      item.kind === 'reply' &&
      isOfRun(item) &&
      item.rows.some(row => row.type === 'TOOL_CALL' && row.payload.call_id === place.call_id)
    const index = items.findLastIndex(hasCall)
    add(index < 0 ? items.findIndex(isOfRun) : index, board)
  }
  return shown
}

/** Puts the sub-agents of a reply into the section that has their call, or into the first section while the call is not loaded. */
function placeSubAgents(items: readonly Item[], { byCaller }: NestedRows): Item[] {
  if (byCaller.size === 0) return [...items]
  const unplacedByCaller = new Map([...byCaller].map(([caller, subAgents]) => [caller, new Set(subAgents)]))
  const callIds = new Map<Item, ReadonlySet<string>>()
  for (const item of items) {
    const unplaced = item.kind === 'reply' ? unplacedByCaller.get(item.runId) : undefined
    if (item.kind !== 'reply' || !unplaced) continue
    const ids = new Set(item.rows.flatMap(row => (row.type === 'TOOL_CALL' ? [row.payload.call_id] : [])))
    callIds.set(item, ids)
    for (const subAgent of unplaced) if (ids.has(subAgent.metadata.call_id)) unplaced.delete(subAgent)
  }
  return items.map(item => {
    const subAgents = item.kind === 'reply' ? byCaller.get(item.runId) : undefined
    if (item.kind !== 'reply' || !subAgents) return item
    const unplaced = unplacedByCaller.get(item.runId)
    unplacedByCaller.delete(item.runId) // shown in the first section only
    const placed = subAgents.filter(
      subAgent => unplaced?.has(subAgent) || callIds.get(item)?.has(subAgent.metadata.call_id),
    )
    return placed.length > 0 ? { ...item, subAgents: placed } : item
  })
}

/**
 * Returns the base extended to `length` rows; null, so that it is built anew, if the added rows contain a comparison, or if a
 * comparison would have answers in the base and after it.
 */
function extendBase(base: Base, messages: readonly MessageRow[], length: number): Base | null {
  const from = base.messages.length
  if (groupAnswers(messages.slice(from, length)).size > 0) return null
  const builder = base.builder.fork(new Map())
  builder.addAll(messages, from, length, base.unreadAfter, base.me)
  builder.groupItems(base.me)
  const extended = { ...base, messages: messages.slice(0, length), builder }
  return isDivided(extended, messages.slice(length)) ? null : extended
}

/** Returns whether `messages` starts with `start`. A plain loop, because it runs over the whole log on each frame. */
function startsWithRows(start: readonly MessageRow[], messages: readonly MessageRow[]): boolean {
  for (let index = 0; index < start.length; index += 1) if (start[index] !== messages[index]) return false
  return true
}

/** Builds a base of all rows but the tail; an empty one if a comparison has answers on both sides. */
function buildBase(messages: readonly MessageRow[], length: number, unreadAfter: number | null, me: string): Base {
  const rows = messages.slice(0, length)
  const comparisonAnswers = groupAnswers(rows)
  const builder = new Builder(comparisonAnswers)
  builder.addAll(messages, 0, length, unreadAfter, me)
  builder.groupItems(me)
  const base = { messages: rows, unreadAfter, me, comparisonAnswers, builder }
  return length > 0 && isDivided(base, messages.slice(length)) ? buildBase(messages, 0, unreadAfter, me) : base
}

/** Returns whether a comparison has answers both in the base and in the tail. */
function isDivided(base: Base, tail: readonly MessageRow[]): boolean {
  if (base.comparisonAnswers.size > 0 && tail.some(row => base.comparisonAnswers.has(getRunId(row)))) return true
  return [...groupAnswers(tail).keys()].some(
    // The base may have built the run as an ordinary reply, because only the tail tells that it is compared.
    runId => base.comparisonAnswers.has(runId) || base.builder.hasReply(runId),
  )
}

/** Replaces each unchanged item in `items` by its object in the earlier array `before`; returns `before` if nothing has changed. */
function reuseItems(before: readonly Item[], items: Item[]): readonly Item[] {
  let start = 0
  while (start < items.length && items[start] === before[start]) start += 1
  const known = new Map(before.slice(start).map(item => [item.key, item]))
  let areAllReused = before.length === items.length
  for (let index = start; index < items.length; index += 1) {
    const item = items[index]
    const old = item && known.get(item.key)
    if (old && isSameItem(old, item)) items[index] = old
    areAllReused &&= items[index] === before[index]
  }
  return areAllReused ? before : items
}

function isSameItem(a: Item, b: Item): boolean {
  return Object.keys(b).every(name => isSameValue(a[name as keyof Item], b[name as keyof Item]))
}

const isSameValue = (a: unknown, b: unknown): boolean =>
  Object.is(a, b) || (Array.isArray(a) && Array.isArray(b) && sameItems(a, b))

function continuesGroup(before: Item, item: Extract<Item, { kind: 'message' | 'unsent' }>, me: string): boolean {
  const { reply_to: replyTo, created_at: at } = item.kind === 'message' ? item.row : item.entry
  if (replyTo) return false
  if (before.kind === 'unsent') return true
  // What is left of a deleted message is a line without a header.
  if (
    [before, item].some(one => one.kind === 'message' && one.row.type === 'TEXT_MESSAGE' && one.row.payload.is_deleted)
  )
    return false
  const author = item.kind === 'message' ? item.row.author_id : me
  return (
    before.kind === 'message' &&
    before.row.author_id === author &&
    isWithinMinutes(before.row.created_at, at, GROUP_MINUTES)
  )
}

const isGrouped = (item: Item | undefined) =>
  (item?.kind === 'message' || item?.kind === 'unsent') && item.continuesAuthor

class Builder {
  private items: Item[] = []
  /** The time of each item in ms, in the same order. */
  private times: number[] = []
  private day = ''
  private isMarked = false
  /** The last section of each reply and its time in ms, by run id. */
  private openReplies = new Map<string, { reply: Reply; since: number }>()
  /** The number of sections of each reply, by run id. */
  private sections = new Map<string, number>()
  /** The time of the last tool response of each run: the next step begins then. */
  private responseTimes = new Map<string, number>()
  /** The times of comparisons, and of texts and files that are not in a reply. */
  private messageTimes: number[] = []
  /** The replies created by this builder; those of another builder are never modified. */
  private readonly ownReplies = new Set<Item>()
  /** The index up to which the items are grouped. */
  private groupedTo = 0

  constructor(private readonly comparisonAnswers: ReadonlyMap<string, readonly MessageRow[]>) {}

  /** Returns a copy that can be extended without changing this builder. */
  fork(comparisonAnswers: ReadonlyMap<string, readonly MessageRow[]>): Builder {
    const fork = new Builder(comparisonAnswers)
    fork.items = [...this.items]
    fork.times = [...this.times]
    fork.day = this.day
    fork.isMarked = this.isMarked
    fork.openReplies = new Map(this.openReplies)
    fork.sections = new Map(this.sections)
    fork.responseTimes = new Map(this.responseTimes)
    fork.messageTimes = [...this.messageTimes]
    fork.groupedTo = this.items.length
    return fork
  }

  hasReply(runId: string): boolean {
    return this.sections.has(runId)
  }

  /** Adds the rows from index `from` up to `to`. */
  addAll(messages: readonly MessageRow[], from: number, to: number, unreadAfter: number | null, me: string): void {
    for (let index = from; index < to; index += 1) {
      const row = messages[index]
      if (!row || this.comparisonAnswers.has(getRunId(row)) || isHiddenMessage(row)) continue
      const shown = isComparison(row) ? this.listAnswers(row) : [row]
      const isUnread =
        unreadAfter !== null &&
        shown.some(({ seq, type, author_id }) => seq > unreadAfter && unreadTypes.has(type) && author_id !== me)
      this.add(row, isUnread, [row, messages[index + 1], messages[index + 2]])
    }
  }

  /** Lists the messages of all runs that answer in a comparison, also of those that were retried. */
  private listAnswers(row: ComparisonRow): MessageRow[] {
    return listComparedRuns([row]).flatMap(runId => this.comparisonAnswers.get(runId) ?? [])
  }

  /** Groups consecutive messages of one person, of which only the first shows its author, and returns all items. */
  groupItems(me: string): Item[] {
    // Start at the beginning of the last group.
    let index = Math.min(this.groupedTo, this.items.length)
    while (index > 0 && isGrouped(this.items[index - 1])) index -= 1
    let groupSize = Math.min(index, 1) // the item before the first checked one, if any, begins a group
    for (; index < this.items.length; index += 1) {
      const [before, item] = [this.items[index - 1], this.items[index]]
      if (item?.kind !== 'message' && item?.kind !== 'unsent') continue
      const continuesAuthor = before !== undefined && groupSize < GROUP_SIZE && continuesGroup(before, item, me)
      groupSize = continuesAuthor ? groupSize + 1 : 1
      if (item.continuesAuthor !== continuesAuthor) this.items[index] = { ...item, continuesAuthor }
    }
    this.groupedTo = this.items.length
    return this.items
  }

  /** `step` contains the row and the two after it, which may belong to the same step. */
  private add(row: MessageRow, isUnread: boolean, step: readonly (MessageRow | undefined)[]): void {
    const time = Date.parse(row.created_at)
    this.addDay(row.created_at, time)
    if (isPartOfReply(row)) {
      const reply = this.addToReply(row, this.getStartTime(row, step))
      if (isUnread) this.markNew(reply)
      return
    }
    if (isUnread) this.markNew(null)
    switch (row.type) {
      case 'TEXT_MESSAGE':
      case 'FILE_MESSAGE':
        this.push({ kind: 'message', key: row.id, row, continuesAuthor: false }, time)
        this.messageTimes.push(time)
        break
      case 'COMPARISON':
        if (isComparison(row)) this.push(this.buildComparison(row), time)
        this.messageTimes.push(time)
        break
      case 'THINKING':
      case 'TOOL_CALL':
      case 'TOOL_RESPONSE':
      case 'APPROVAL_ASKED':
      case 'APPROVAL_DECIDED':
        // These are shown in the reply of their run.
        break
      default:
        this.addSystem(row, time)
    }
  }

  /** Starts the reply of an active run, or another section of it if a message was posted before the step that streams now. */
  addActiveRun(run: RunRow, streamingSince: number | undefined): void {
    if (run.stamp?.compared) return
    const since =
      streamingSince === undefined ? undefined : Math.max(streamingSince, this.responseTimes.get(run.id) ?? 0)
    const open = this.openReplies.get(run.id)
    if (open && (since === undefined || !this.hasMessageBetween(open.since, since))) return
    const at = run.started_at ?? run.created_at
    const reply = this.startReply(run.id, run.agent_id, at, since ?? Date.parse(at))
    if (!open) this.quote(reply, run.trigger_id ?? null)
  }

  /** Adds the sub-agents whose callers have no reply among the items, each at the time of its first row. */
  addSubAgents({ byCaller, withoutCaller }: NestedRows, otherRuns: ReadonlySet<string>): void {
    const isUnplaced = (caller: string) => !this.hasReply(caller) && !otherRuns.has(caller)
    const unplaced = [...byCaller].filter(([caller]) => isUnplaced(caller)).flatMap(([, subAgents]) => subAgents)
    // The runs of a board that is not known are left out: it is being read.
    const ofNoBoard = withoutCaller.filter(({ metadata }) => !isTaskId(metadata.call_id))
    for (const subAgent of [...unplaced, ...ofNoBoard]) {
      const [first] = listTree([subAgent]).flatMap(({ rows }) => rows.slice(0, 1))
      if (!first) continue
      const time = Date.parse(first.created_at)
      let index = this.items.length
      while (index > 0 && (this.times[index - 1] ?? 0) > time) index -= 1
      this.insert(index, { kind: 'subAgent', key: `sub ${subAgent.runId}`, subAgent }, time)
    }
  }

  /** Adds a board for whose reply or message there is no item, at the time when it was made. */
  addBoard(
    { supervisor_run_id, message_id, created_at: at }: BoardPlace,
    board: PlacedBoard,
    messages: readonly MessageRow[],
  ): void {
    const isShown = supervisor_run_id
      ? this.hasReply(supervisor_run_id)
      : message_id !== null && messages.some(({ id }) => id === message_id)
    if (isShown) return
    const time = Date.parse(at)
    let index = this.items.length
    while (index > 0 && (this.times[index - 1] ?? 0) > time) index -= 1
    this.insert(index, { kind: 'board', key: `board ${board.id}`, boards: [board], at }, time)
  }

  addUnsent(entry: Unsent): void {
    this.items.push({ kind: 'unsent', key: entry.id, entry, continuesAuthor: false })
  }

  /** Adds a system message, or adds it to the previous one of the same action. */
  private addSystem(row: SystemMessageRow, time: number): void {
    const index = this.items.length - 1
    const before = this.items[index]
    if (before?.kind === 'system' && isSameAction(before.rows, row))
      this.items[index] = { ...before, rows: [...before.rows, row] }
    else this.push({ kind: 'system', key: row.id, row, rows: [row], boards: noBoards }, time)
  }

  private push(item: Item, time: number): void {
    this.items.push(item)
    this.times.push(time)
  }

  private insert(index: number, item: Item, time: number): void {
    this.items.splice(index, 0, item)
    this.times.splice(index, 0, time)
    this.groupedTo = Math.min(this.groupedTo, index)
  }

  /** Returns the last section of a reply for modification, copied if it belongs to another builder. */
  private getOwnReply(runId: string): Reply | null {
    const open = this.openReplies.get(runId)
    if (!open || this.ownReplies.has(open.reply)) return open?.reply ?? null
    const reply = { ...open.reply, rows: [...open.reply.rows] }
    this.items[this.items.lastIndexOf(open.reply)] = reply
    this.ownReplies.add(reply)
    this.openReplies.set(runId, { ...open, reply })
    return reply
  }

  /** Inserts the "new" divider before a reply, or at the end. */
  private markNew(reply: Reply | null): void {
    if (this.isMarked) return
    this.isMarked = true
    const index = reply ? this.items.lastIndexOf(reply) : this.items.length
    this.insert(index, { kind: 'new', key: 'new' }, this.times[index] ?? this.times.at(-1) ?? 0)
  }

  private addDay(at: string, time: number): void {
    const day = getDayKey(at)
    if (day === this.day) return
    this.day = day
    this.push({ kind: 'day', key: `day ${day}`, at }, time)
  }

  private buildComparison(row: ComparisonRow): Item {
    const { production, draft } = row.payload
    const answer = (runId: string) => this.comparisonAnswers.get(runId) ?? []
    return {
      kind: 'comparison',
      key: row.id,
      row,
      production: answer(production.run_id),
      draft: answer(draft.run_id),
    }
  }

  /**
   * Returns the start time of the step of a row, in ms, and stores the time of a tool response. The id of a text contains the
   * start of its step, which also applies to the reasoning and tool calls of the step. A later step begins after the last
   * tool response.
   */
  private getStartTime(row: MessageRow, step: readonly (MessageRow | undefined)[]): number {
    const runId = getRunId(row)
    const text = step.find(row => row?.type === 'TEXT_MESSAGE' && getRunId(row) === runId)
    const began = text ? getTimeOfId(text.id) : null
    const responseTime = this.responseTimes.get(runId) ?? null
    if (row.type === 'TOOL_RESPONSE') this.responseTimes.set(runId, Date.parse(row.created_at))
    if (row.type === 'TOOL_RESPONSE' || row.type.startsWith('RUN_') || row.type.startsWith('APPROVAL_'))
      return this.openReplies.get(runId)?.since ?? Date.parse(row.created_at)
    if (began === null) return responseTime ?? Date.parse(row.created_at)
    return Math.max(began, responseTime ?? 0)
  }

  /** Returns whether a message was posted after `from` and not after `to`. */
  private hasMessageBetween(from: number, to: number): boolean {
    for (let index = this.messageTimes.length - 1; index >= 0; index -= 1) {
      const time = this.messageTimes[index] ?? 0
      if (time <= to && time > from) return true
      // The times are sorted except for differences up to `MAX_DISORDER_MS`.
      if (time < from - MAX_DISORDER_MS) return false
    }
    return false
  }

  private addToReply(row: MessageRow, since: number): Reply {
    const open = this.openReplies.get(getRunId(row))
    const isSameSection = open && !this.hasMessageBetween(open.since, since)
    const reply = isSameSection
      ? (this.getOwnReply(getRunId(row)) ?? open.reply)
      : this.startReply(getRunId(row), getAgentId(row), row.created_at, since)
    reply.rows.push(row)
    if (this.sections.get(getRunId(row)) === 1) this.quote(reply, getAnsweredId(row))
    return reply
  }

  /** Makes a reply quote what it answers, if a message, a reply of the same agent or many items are in between. */
  private quote(reply: Reply, id: string | null): void {
    if (id === null || reply.answeredId !== null) return
    let index = this.items.lastIndexOf(reply) - 1
    for (let steps = 0; index >= 0 && steps <= MAX_ITEMS_TO_QUESTION; index -= 1, steps += 1) {
      const item = this.items[index]
      if (item?.kind === 'message' && item.row.id === id) return
      if (item?.kind === 'reply' && item.rows.some(row => row.id === id)) return
      if (item?.kind === 'message' || (item?.kind === 'reply' && item.agentId === reply.agentId)) break
    }
    reply.answeredId = id
  }

  private startReply(runId: string, agentId: string | null, at: string, since: number): Reply {
    const section = (this.sections.get(runId) ?? 0) + 1
    this.sections.set(runId, section)
    // Only the last section of a reply shows the stamp and the streaming text.
    const before = this.getOwnReply(runId)
    if (before) before.last = false
    const reply: Reply = {
      kind: 'reply',
      key: `${runId} ${section}`,
      runId,
      agentId,
      rows: [],
      earlierRows: before ? [...before.earlierRows, ...before.rows] : [],
      at,
      last: true,
      answeredId: null,
      subAgents: noSubAgents,
      boards: noBoards,
      answers: noAnswers,
      isUnused: false,
      replacedRows: noRows,
    }
    this.ownReplies.add(reply)
    this.openReplies.set(runId, { reply, since })
    let index = this.items.length
    while (index > 0 && (this.times[index - 1] ?? 0) > since) index -= 1
    this.insert(index, reply, since)
    return reply
  }
}
