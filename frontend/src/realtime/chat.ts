/** The state of one chat in this tab: rows by id and version, and transient data such as streaming texts. */
import type {
  AnyRow,
  Changes,
  ChatRow,
  Delta,
  DraftText,
  EndedRunState,
  MessageRow,
  RunRow,
  Subscribed,
} from '@/api/types'
import { listKeys } from '@/lib/listKeys'
import { LayeredMap } from './layered'
import { appendDelta, fromPartial, mergePartials, type StreamingText } from './partials'

type RowKind = AnyRow['kind']
type RowOf<K extends RowKind> = Extract<AnyRow, { kind: K }>
type Rows<K extends RowKind> = ReadonlyMap<string, RowOf<K>>
/** The rows of a chat, by kind and id. */
type RowTables = { readonly [K in RowKind]: Rows<K> }

export interface ChatState {
  /** The version up to which all rows are loaded. */
  version: number
  /** The highest version that was announced. If it is above `version`, frames were missed. */
  known: number
  loaded: boolean
  /** True if the reader may not, or no longer, see this chat. */
  closed: boolean
  hasOlder: boolean
  /** The lowest `seq` from which the log has no gaps; 0 if all of it is loaded. */
  firstLoadedSeq: number
  rows: RowTables
  /** The messages, sorted by `seq`. */
  log: readonly MessageRow[]
  /** Streaming texts, by run id. */
  streaming: ReadonlyMap<string, readonly StreamingText[]>
  /** Texts that are being edited, by draft id. */
  writing: ReadonlyMap<string, DraftText>
  /** Who is typing a message, with the time in ms until which that is shown. */
  typing: ReadonlyMap<string, number>
  present: readonly string[]
}

export const endedRunStates = listKeys<EndedRunState>({ completed: true, failed: true, stopped: true })
export const isActive = (run: RunRow) => !endedRunStates.some(state => state === run.state)

/** For each kind of rows, whether a row has ended. A reply to `subscribe` leaves out rows that have ended before. */
const hasEnded: { readonly [K in RowKind]: (row: RowOf<K>) => boolean } = {
  chat: row => row.ended,
  participant: row => row.ended,
  draft: row => row.status === 'ended',
  run: row => !isActive(row),
  board: row => Boolean(row.ended_at),
  // A reply leaves out the tasks of boards that have ended. No task is ever removed, so a known one is kept.
  board_task: () => true,
  message: () => false,
}

export function isEnded<K extends RowKind>(row: RowOf<K> & { kind: K }): boolean {
  return hasEnded[row.kind](row)
}

const rowKinds = Object.keys(hasEnded) as readonly RowKind[]

const emptyTables = Object.fromEntries(rowKinds.map(kind => [kind, new Map()])) as unknown as RowTables

export const emptyChat: ChatState = {
  version: 0,
  known: 0,
  loaded: false,
  closed: false,
  hasOlder: false,
  firstLoadedSeq: 0,
  rows: emptyTables,
  log: [],
  streaming: new Map(),
  writing: new Map(),
  typing: new Map(),
  present: [],
}

const TYPING_MS = 5_000

/** Returns the row of the chat itself, or null until it is loaded. */
export function getChatRow(state: ChatState): ChatRow | null {
  for (const row of state.rows.chat.values()) return row
  return null
}

type Tables = Pick<ChatState, 'rows' | 'log'>

/**
 * Builds the tables of the next state. A table is copied at the first change of any of its rows, so that the tables of
 * the previous state stay unchanged.
 */
class TablesBuilder {
  private rows: RowTables
  private readonly copies = new Set<RowKind>()
  private readonly changed: MessageRow[] = []
  private hasRemovedMessages = false

  constructor(private readonly before: Tables) {
    this.rows = before.rows
  }

  private copyTable(kind: RowKind): LayeredMap<AnyRow> {
    if (!this.copies.has(kind)) this.replace(kind, LayeredMap.copyOf<AnyRow>(this.rows[kind]))
    return this.rows[kind] as LayeredMap<AnyRow>
  }

  private replace(kind: RowKind, table: ReadonlyMap<string, AnyRow>): void {
    this.copies.add(kind)
    this.rows = { ...this.rows, [kind]: table }
  }

  /** Puts a row into its table unless the table has a newer one, or one of the same version that is not to be replaced. */
  upsert(row: AnyRow, { replacesSameVersion }: { replacesSameVersion: boolean }): void {
    const known = this.rows[row.kind].get(row.id)
    if (!isNewer(row, known, replacesSameVersion) || isSameContent(row, known)) return
    this.copyTable(row.kind).set(row.id, row)
    if (row.kind === 'message') this.changed.push(row)
  }

  /** Returns whether the row is in its table. Always true for a message, because older messages may not be loaded. */
  has(row: AnyRow): boolean {
    return row.kind === 'message' || row.kind === 'chat' || this.rows[row.kind].has(row.id)
  }

  /** Removes the rows of a kind that do not satisfy a condition. */
  filter(kind: RowKind, isKept: (row: AnyRow) => boolean): void {
    const table: ReadonlyMap<string, AnyRow> = this.rows[kind]
    const kept = [...table].filter(([, row]) => isKept(row))
    if (kept.length === table.size) return
    this.replace(kind, LayeredMap.copyOf<AnyRow>(new Map(kept)))
    if (kind === 'message') this.hasRemovedMessages = true
  }

  build(): Tables {
    const { rows, changed } = this
    let { log } = this.before
    if (this.hasRemovedMessages) log = [...rows.message.values()].sort(compareSeq)
    else if (changed.length > 0) log = updateLog(log, changed)
    return { rows, log }
  }
}

const compareSeq = (a: MessageRow, b: MessageRow) => a.seq - b.seq

/** Returns the index of the first message whose `seq` is not lower. */
export function indexOfSeq(log: readonly MessageRow[], seq: number): number {
  let [low, high] = [0, log.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((log[middle]?.seq ?? 0) < seq) low = middle + 1
    else high = middle
  }
  return low
}

/** Adds rows to the log. Usually a row is new at the end, or replaces an earlier version. */
function updateLog(log: readonly MessageRow[], rows: readonly MessageRow[]): MessageRow[] {
  const next = [...log]
  for (const row of rows) {
    const at = indexOfSeq(next, row.seq)
    if (next[at]?.id === row.id) next[at] = row
    else if (at === next.length) next.push(row)
    else return [...new Map([...log, ...rows].map(row => [row.id, row])).values()].sort(compareSeq)
  }
  return next
}

/** Returns whether two rows of one version are equal. A snapshot repeats most rows. */
const isSameContent = (row: AnyRow, known: AnyRow | undefined) =>
  known !== undefined && row.version === known.version && JSON.stringify(row) === JSON.stringify(known)

/**
 * Returns whether `row` is newer than `known`; for two rows of one version, `replacesSameVersion`. An autosave increases
 * only the revision of a draft.
 */
function isNewer(row: AnyRow, known: AnyRow | undefined, replacesSameVersion: boolean): boolean {
  if (!known) return true
  if (row.version !== known.version) return row.version > known.version
  if ('revision' in row && 'revision' in known && row.revision !== known.revision) return row.revision > known.revision
  return replacesSameVersion
}

/** Returns the streaming texts without those of stored messages, of ended runs and of earlier attempts. */
function filterStreaming(streaming: ChatState['streaming'], tables: Tables): ChatState['streaming'] {
  const left = new Map<string, readonly StreamingText[]>()
  let isUnchanged = true
  for (const [runId, texts] of streaming) {
    const run = tables.rows.run.get(runId)
    const hasEnded = run !== undefined && !isActive(run)
    // The rows of a step arrive together: if one is loaded, no part of the step is streaming.
    const stored = new Set(texts.filter(text => tables.rows.message.has(text.row_id)).map(text => text.message_id))
    const open = texts.filter(text => !hasEnded && !stored.has(text.message_id) && text.attempt >= (run?.attempt ?? 0))
    if (open.length === texts.length) left.set(runId, texts)
    else {
      isUnchanged = false
      if (open.length > 0) left.set(runId, open)
    }
  }
  return isUnchanged ? streaming : left
}

function filterWriting(writing: ChatState['writing'], tables: Tables): ChatState['writing'] {
  const left = [...writing].filter(([draftId, text]) => {
    const draft = tables.rows.draft.get(draftId)
    return !draft || (draft.status !== 'ended' && text.revision > draft.revision)
  })
  return left.length === writing.size ? writing : new Map(left)
}

function filterTyping(typing: ChatState['typing'], rows: readonly AnyRow[]): ChatState['typing'] {
  const authors = rows.filter(row => row.kind === 'message').map(row => row.author_id ?? '')
  if (!authors.some(author => typing.has(author))) return typing
  return new Map([...typing].filter(([actor]) => !authors.includes(actor)))
}

function applyTables(state: ChatState, tables: Tables, rows: readonly AnyRow[]): ChatState {
  return {
    ...state,
    ...tables,
    streaming: filterStreaming(state.streaming, tables),
    writing: filterWriting(state.writing, tables),
    typing: filterTyping(state.typing, rows),
  }
}

/** Applies the rows between two versions. Those of a frame after a gap are applied, too, but `version` stays until it is filled. */
export function applyChanges(state: ChatState, frame: Changes): ChatState {
  const next = new TablesBuilder(state)
  for (const row of frame.rows) {
    // All rows but messages (of which `has` is always true) are loaded up to `version`: an unknown row with an older version has
    // ended and must not be added again.
    if (row.version <= state.version && !next.has(row)) continue
    next.upsert(row, { replacesSameVersion: false })
  }
  const isContiguous = frame.after <= state.version
  const version = isContiguous ? Math.max(state.version, frame.version) : state.version
  return { ...applyTables(state, next.build(), frame.rows), version, known: Math.max(state.known, frame.version) }
}

/** Applies rows from a response of the REST API. They do not change `version`. */
export function applyRows(state: ChatState, rows: readonly AnyRow[]): ChatState {
  const version = state.version
  return applyChanges(state, { type: 'changes', topic: '', after: version, version, rows: [...rows] })
}

/**
 * Adds rows that have ended, which a reply to `subscribe` leaves out, from a response of the REST API. Unlike `applyRows`, also
 * adds unknown ones whose version the state has passed.
 */
export function addEndedRows(state: ChatState, rows: readonly AnyRow[]): ChatState {
  const next = new TablesBuilder(state)
  for (const row of rows) next.upsert(row, { replacesSameVersion: false })
  return { ...state, ...next.build() }
}

/**
 * Removes the rows that a reply to `subscribe` lacks: it always has all participants, current drafts, active runs and boards.
 * Messages are removed only if it is a snapshot.
 */
function removeMissing(state: ChatState, frame: Subscribed): TablesBuilder {
  const next = new TablesBuilder(state)
  const idsInFrame = new Set(frame.rows.map(row => row.id))
  // Frames may have arrived before the snapshot: newer rows are kept.
  const isKept = (row: AnyRow) => idsInFrame.has(row.id) || row.version > frame.version
  for (const kind of rowKinds) {
    if (kind !== 'message') next.filter(kind, row => isKept(row) || isEnded(row))
    else if (frame.snapshot) next.filter(kind, isKept)
  }
  return next
}

/** Returns the lowest `seq` from which no message is missing; 0 if no older one exists. */
function getFirstSeq(frame: Subscribed): number {
  if (!frame.has_older) return 0
  const seqs = frame.rows.filter(row => row.kind === 'message').map(row => row.seq)
  return seqs.length > 0 ? Math.min(...seqs) : frame.version + 1
}

/** Returns the streaming texts after a reply to `subscribe`: those of the reply, and the known ones of runs in `tables`. */
function updateStreaming(state: ChatState, frame: Subscribed, tables: Tables): ChatState['streaming'] {
  const streaming = new Map<string, readonly StreamingText[]>()
  for (const [runId, texts] of state.streaming) if (tables.rows.run.has(runId)) streaming.set(runId, texts)
  for (const partial of frame.partials) {
    const known = streaming.get(partial.run_id) ?? []
    streaming.set(partial.run_id, mergePartials(known, [fromPartial(partial)]))
  }
  return filterStreaming(streaming, tables)
}

/** Applies the response to `subscribe`: a snapshot, or the rows since a version. */
export function applySubscriptionReply(state: ChatState, frame: Subscribed): ChatState {
  const next = removeMissing(state, frame)
  for (const row of frame.rows) {
    // As in `applyChanges`: in a reply that is older than the state, an unknown row has ended since.
    const isLate = !frame.snapshot && frame.version < state.version && row.version <= state.version
    if (isLate && !next.has(row)) continue
    next.upsert(row, { replacesSameVersion: true })
  }
  const tables = next.build()
  const base = applyTables({ ...state, streaming: new Map() }, tables, frame.rows)
  const page = frame.snapshot ? { hasOlder: frame.has_older, firstLoadedSeq: getFirstSeq(frame) } : {}
  return {
    ...base,
    ...page,
    streaming: updateStreaming(state, frame, tables),
    version: frame.snapshot ? frame.version : Math.max(state.version, frame.version),
    known: Math.max(state.known, frame.version),
    loaded: true,
    closed: false,
    present: frame.present,
  }
}

/** Adds an older page of messages, sorted oldest first. */
export function addOlderMessages(state: ChatState, rows: readonly MessageRow[], hasOlder: boolean): ChatState {
  const next = new TablesBuilder(state)
  for (const row of rows) next.upsert(row, { replacesSameVersion: false })
  const { rows: tables, log } = next.build()
  const lowest = rows[0]?.seq ?? state.firstLoadedSeq
  return {
    ...state,
    rows: tables,
    log,
    hasOlder,
    firstLoadedSeq: hasOlder ? Math.min(state.firstLoadedSeq, lowest) : 0,
  }
}

export function applyDelta(state: ChatState, delta: Delta): ChatState {
  const run = state.rows.run.get(delta.run_id)
  if (state.rows.message.has(delta.row_id) || (run && (!isActive(run) || delta.attempt < run.attempt))) return state
  const before = state.streaming.get(delta.run_id) ?? []
  const after = appendDelta(before, delta)
  return after === before ? state : { ...state, streaming: new Map(state.streaming).set(delta.run_id, after) }
}

export function applyDraftText(state: ChatState, text: DraftText): ChatState {
  const draft = state.rows.draft.get(text.draft_id)
  const last = Math.max(state.writing.get(text.draft_id)?.revision ?? -1, draft?.revision ?? -1)
  if (text.revision <= last || draft?.status === 'ended') return state
  return { ...state, writing: new Map(state.writing).set(text.draft_id, text) }
}

export function applyTyping(state: ChatState, actorId: string, now: number): ChatState {
  return { ...state, typing: new Map(state.typing).set(actorId, now + TYPING_MS) }
}
