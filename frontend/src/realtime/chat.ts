/** One chat as this tab knows it: rows by id and version, and what is passing through it. */
import type {
  AnyRow,
  Changes,
  ChatRow,
  Delta,
  DraftRow,
  DraftText,
  MessageRow,
  ParticipantRow,
  RunRow,
  Subscribed,
} from '@/api/types'
import { LayeredMap } from './layered'
import { appendDelta, fromPartial, type LiveText, mergePartials } from './partials'

type Rows<T> = ReadonlyMap<string, T>

export interface ChatState {
  /** Everything up to this version is here. */
  version: number
  /** The highest version known to exist; above `version`, something was missed. */
  known: number
  loaded: boolean
  /** The reader may no longer follow this chat. */
  closed: boolean
  hasOlder: boolean
  /** The lowest `seq` from which on the log is whole. */
  firstLoadedSeq: number
  chat: ChatRow | null
  messages: Rows<MessageRow>
  /** The same rows by `seq`. */
  log: readonly MessageRow[]
  participants: Rows<ParticipantRow>
  drafts: Rows<DraftRow>
  runs: Rows<RunRow>
  /** By run. */
  live: ReadonlyMap<string, readonly LiveText[]>
  /** By draft: somebody's text as it is being written. */
  writing: ReadonlyMap<string, DraftText>
  /** Who is typing a message, and until when it is shown (ms). */
  typing: ReadonlyMap<string, number>
  present: readonly string[]
}

export const emptyChat: ChatState = {
  version: 0,
  known: 0,
  loaded: false,
  closed: false,
  hasOlder: false,
  firstLoadedSeq: 0,
  chat: null,
  messages: new Map(),
  log: [],
  participants: new Map(),
  drafts: new Map(),
  runs: new Map(),
  live: new Map(),
  writing: new Map(),
  typing: new Map(),
  present: [],
}

const TYPING_MS = 5_000

export const isActive = (run: RunRow) => !['completed', 'failed', 'stopped'].includes(run.state)
export const isEnded = (row: ParticipantRow | DraftRow | RunRow) =>
  row.kind === 'run' ? !isActive(row) : row.kind === 'draft' ? row.status === 'ended' : row.ended

type Small = ParticipantRow | DraftRow | RunRow
type Tables = Pick<ChatState, 'chat' | 'messages' | 'log' | 'participants' | 'drafts' | 'runs'>
type TableName = 'messages' | 'participants' | 'drafts' | 'runs'
type Row<N extends TableName> = Tables[N] extends Rows<infer T> ? T : never

/**
 * The tables of one state on their way to the next. One is copied when a row is first put into it or taken out, so that
 * who reads another finds it unchanged.
 */
class NextTables {
  readonly tables: Tables
  private readonly copies = new Set<TableName>()
  private readonly changed: MessageRow[] = []
  private hasLost = false

  constructor({ chat, messages, log, participants, drafts, runs }: ChatState) {
    this.tables = { chat, messages, log, participants, drafts, runs }
  }

  private writable(name: TableName): LayeredMap<AnyRow> {
    if (!this.copies.has(name)) this.replace(name, LayeredMap.copyOf<AnyRow>(this.tables[name]))
    return this.tables[name] as LayeredMap<AnyRow>
  }

  private replace(name: TableName, table: Rows<AnyRow>): void {
    this.copies.add(name)
    Object.assign(this.tables, { [name]: table })
  }

  /** Put a row into its table unless a newer one is known. */
  upsert(row: AnyRow, orEqual: boolean): void {
    switch (row.kind) {
      case 'message':
        if (this.put('messages', row, orEqual)) this.changed.push(row)
        break
      case 'participant':
        this.put('participants', row, orEqual)
        break
      case 'draft':
        this.put('drafts', row, orEqual)
        break
      case 'run':
        this.put('runs', row, orEqual)
        break
      case 'chat':
        if (isNewer(row, this.tables.chat ?? undefined, orEqual)) this.tables.chat = row
        break
      default:
        row satisfies never
    }
  }

  private put(name: TableName, row: AnyRow, orEqual: boolean): boolean {
    const known = this.tables[name].get(row.id)
    if (!isNewer(row, known, orEqual) || isSameContent(row, known)) return false
    this.writable(name).set(row.id, row)
    return true
  }

  has(row: AnyRow): boolean {
    if (row.kind === 'message' || row.kind === 'chat') return true
    return this.tables[`${row.kind}s`].has(row.id)
  }

  /** Drops every row that is not to be kept. */
  filter<N extends TableName>(name: N, isKept: (row: Row<N>) => boolean): void {
    const table = this.tables[name] as Rows<Row<N>>
    const left = [...table].filter(([, row]) => isKept(row)) as [string, AnyRow][]
    if (left.length === table.size) return
    this.replace(name, LayeredMap.copyOf<AnyRow>(new Map(left)))
    if (name === 'messages') this.hasLost = true
  }

  done(): Tables {
    if (this.hasLost) this.tables.log = [...this.tables.messages.values()].sort(bySeq)
    else if (this.changed.length > 0) this.tables.log = logWith(this.tables.log, this.changed)
    return this.tables
  }
}

const bySeq = (a: MessageRow, b: MessageRow) => a.seq - b.seq

/** The first place in a log whose `seq` is not below. */
export function indexOfSeq(log: readonly MessageRow[], seq: number): number {
  let [low, high] = [0, log.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((log[middle]?.seq ?? 0) < seq) low = middle + 1
    else high = middle
  }
  return low
}

/** Mostly a line at the end, or another version of one that is there. */
function logWith(log: readonly MessageRow[], rows: readonly MessageRow[]): MessageRow[] {
  const next = [...log]
  for (const row of rows) {
    const at = indexOfSeq(next, row.seq)
    if (next[at]?.id === row.id) next[at] = row
    else if (at === next.length) next.push(row)
    else return [...new Map([...log, ...rows].map(each => [each.id, each])).values()].sort(bySeq)
  }
  return next
}

/** Whether two rows of one version say the same: an answer that names everything repeats most of it. */
const isSameContent = (row: AnyRow, known: AnyRow | undefined) =>
  known !== undefined && row.version === known.version && JSON.stringify(row) === JSON.stringify(known)

/** Whether `row` is newer than `known`. An autosave raises a draft's revision only. */
function isNewer(row: AnyRow, known: AnyRow | undefined, orEqual: boolean): boolean {
  if (!known || row.version !== known.version) return !known || row.version > known.version
  if (row.kind === 'draft' && known.kind === 'draft' && row.revision !== known.revision)
    return row.revision > known.revision
  return orEqual
}

/** Live texts that no durable row has replaced yet. */
function stillLive(live: ChatState['live'], tables: Tables): ChatState['live'] {
  const left = new Map<string, readonly LiveText[]>()
  let isUnchanged = true
  for (const [runId, texts] of live) {
    const run = tables.runs.get(runId)
    const isOver = run !== undefined && !isActive(run)
    // The rows of a step come together: one of them means that none of its parts streams any more.
    const stored = new Set(texts.filter(text => tables.messages.has(text.row_id)).map(text => text.message_id))
    const open = texts.filter(text => !isOver && !stored.has(text.message_id) && text.attempt >= (run?.attempt ?? 0))
    if (open.length === texts.length) left.set(runId, texts)
    else {
      isUnchanged = false
      if (open.length > 0) left.set(runId, open)
    }
  }
  return isUnchanged ? live : left
}

function stillWriting(writing: ChatState['writing'], tables: Tables): ChatState['writing'] {
  const left = [...writing].filter(([draftId, text]) => {
    const draft = tables.drafts.get(draftId)
    return !draft || (draft.status !== 'ended' && text.revision > draft.revision)
  })
  return left.length === writing.size ? writing : new Map(left)
}

function stillTyping(typing: ChatState['typing'], rows: readonly AnyRow[]): ChatState['typing'] {
  const spoke = rows.filter(row => row.kind === 'message').map(row => row.author_id ?? '')
  if (!spoke.some(author => typing.has(author))) return typing
  return new Map([...typing].filter(([actor]) => !spoke.includes(actor)))
}

function withTables(state: ChatState, tables: Tables, rows: readonly AnyRow[]): ChatState {
  return {
    ...state,
    ...tables,
    live: stillLive(state.live, tables),
    writing: stillWriting(state.writing, tables),
    typing: stillTyping(state.typing, rows),
  }
}

/** Rows between two versions. A frame that does not follow on is still used; the version waits for the repair. */
export function withChanges(state: ChatState, frame: Changes): ChatState {
  const next = new NextTables(state)
  for (const row of frame.rows) {
    // All of the small state up to `version` is here: an unknown row that old has ended since, and must not come back.
    if (row.version <= state.version && !next.has(row)) continue
    next.upsert(row, false)
  }
  const follows = frame.after <= state.version
  const version = follows ? Math.max(state.version, frame.version) : state.version
  return { ...withTables(state, next.done(), frame.rows), version, known: Math.max(state.known, frame.version) }
}

/** Single rows from an answer of the REST API: they change nothing about what is known to be whole. */
export function withRows(state: ChatState, rows: readonly AnyRow[]): ChatState {
  const version = state.version
  return withChanges(state, { type: 'changes', topic: '', after: version, version, rows: [...rows] })
}

/** Drops what the answer, which names the whole small state, does not name any more. */
function baseOf(state: ChatState, frame: Subscribed): NextTables {
  const next = new NextTables(state)
  const named = new Set(frame.rows.map(row => row.id))
  // Frames may have overtaken the snapshot: what is newer than it stays.
  if (frame.snapshot) next.filter('messages', row => row.version > frame.version || named.has(row.id))
  const isKept = (row: Small) => named.has(row.id) || row.version > frame.version || isEnded(row)
  next.filter('participants', isKept)
  next.filter('drafts', isKept)
  next.filter('runs', isKept)
  return next
}

function firstSeqIn(frame: Subscribed): number {
  if (!frame.has_older) return 0
  const seqs = frame.rows.filter(row => row.kind === 'message').map(row => row.seq)
  return seqs.length > 0 ? Math.min(...seqs) : frame.version + 1
}

function liveAfter(state: ChatState, frame: Subscribed, tables: Tables): ChatState['live'] {
  const live = new Map<string, readonly LiveText[]>()
  for (const [runId, texts] of state.live) if (tables.runs.has(runId)) live.set(runId, texts)
  for (const partial of frame.partials) {
    const known = live.get(partial.run_id) ?? []
    live.set(partial.run_id, mergePartials(known, [fromPartial(partial)]))
  }
  return stillLive(live, tables)
}

/** The answer to `subscribe`: a snapshot, or the rows since. */
export function withSubscribed(state: ChatState, frame: Subscribed): ChatState {
  const next = baseOf(state, frame)
  for (const row of frame.rows) {
    const late = !frame.snapshot && frame.version < state.version && row.version <= state.version
    if (late && !next.has(row)) continue
    next.upsert(row, true)
  }
  const tables = next.done()
  const base = withTables({ ...state, live: new Map() }, tables, frame.rows)
  const page = frame.snapshot ? { hasOlder: frame.has_older, firstLoadedSeq: firstSeqIn(frame) } : {}
  return {
    ...base,
    ...page,
    live: liveAfter(state, frame, tables),
    version: frame.snapshot ? frame.version : Math.max(state.version, frame.version),
    known: Math.max(state.known, frame.version),
    loaded: true,
    closed: false,
    present: frame.present,
  }
}

/** An older page, oldest first. */
export function withOlder(state: ChatState, rows: readonly MessageRow[], hasOlder: boolean): ChatState {
  const next = new NextTables(state)
  for (const row of rows) next.upsert(row, false)
  const { messages, log } = next.done()
  const lowest = rows[0]?.seq ?? state.firstLoadedSeq
  return { ...state, messages, log, hasOlder, firstLoadedSeq: hasOlder ? Math.min(state.firstLoadedSeq, lowest) : 0 }
}

export function withDelta(state: ChatState, delta: Delta): ChatState {
  const run = state.runs.get(delta.run_id)
  if (state.messages.has(delta.row_id) || (run && (!isActive(run) || delta.attempt < run.attempt))) return state
  const before = state.live.get(delta.run_id) ?? []
  const after = appendDelta(before, delta)
  return after === before ? state : { ...state, live: new Map(state.live).set(delta.run_id, after) }
}

export function withDraftText(state: ChatState, text: DraftText): ChatState {
  const draft = state.drafts.get(text.draft_id)
  const last = Math.max(state.writing.get(text.draft_id)?.revision ?? -1, draft?.revision ?? -1)
  if (text.revision <= last || draft?.status === 'ended') return state
  return { ...state, writing: new Map(state.writing).set(text.draft_id, text) }
}

export function withTyping(state: ChatState, actorId: string, now: number): ChatState {
  return { ...state, typing: new Map(state.typing).set(actorId, now + TYPING_MS) }
}
