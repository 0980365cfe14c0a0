/** One chat as this tab knows it: rows by id and version, and what is passing through it. */
import type {
  AnyRow,
  Changes,
  ChatRow,
  Delta,
  DraftRow,
  DraftText,
  MemberRow,
  MessageRow,
  RunRow,
  Subscribed,
} from '@/api/types'
import { fromPartial, type LiveText, merged, withDelta } from './partials'
import { isSettled } from './steps'

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
  floor: number
  chat: ChatRow | null
  messages: Rows<MessageRow>
  members: Rows<MemberRow>
  drafts: Rows<DraftRow>
  runs: Rows<RunRow>
  /** By run. */
  live: ReadonlyMap<string, readonly LiveText[]>
  /** By draft: somebody's text as it is being written. */
  writing: ReadonlyMap<string, DraftText>
  /** Who is typing a message, and until when that holds (ms). */
  typing: ReadonlyMap<string, number>
  present: readonly string[]
}

export const emptyChat: ChatState = {
  version: 0,
  known: 0,
  loaded: false,
  closed: false,
  hasOlder: false,
  floor: 0,
  chat: null,
  messages: new Map(),
  members: new Map(),
  drafts: new Map(),
  runs: new Map(),
  live: new Map(),
  writing: new Map(),
  typing: new Map(),
  present: [],
}

const TYPING_MS = 5_000

export const isActive = (run: RunRow) => !['completed', 'failed', 'stopped'].includes(run.state)
export const isEnded = (row: MemberRow | DraftRow | RunRow) =>
  row.kind === 'run' ? !isActive(row) : row.kind === 'draft' ? row.status === 'ended' : row.ended

type Small = MemberRow | DraftRow | RunRow
type Tables = Pick<ChatState, 'chat' | 'messages' | 'members' | 'drafts' | 'runs'>

/** Copies of the tables, made once per frame and only here written to. */
function copied(state: ChatState) {
  return {
    chat: state.chat,
    messages: new Map(state.messages),
    members: new Map(state.members),
    drafts: new Map(state.drafts),
    runs: new Map(state.runs),
  } satisfies Tables
}

type Copies = ReturnType<typeof copied>

/** Whether `row` says more than `held`. An autosave raises a draft's revision only. */
function isNewer(row: AnyRow, held: AnyRow | undefined, orEqual: boolean): boolean {
  if (!held || row.version !== held.version) return !held || row.version > held.version
  if (row.kind === 'draft' && held.kind === 'draft' && row.revision !== held.revision)
    return row.revision > held.revision
  return orEqual
}

function put<T extends AnyRow>(table: Map<string, T>, row: T, orEqual: boolean): void {
  if (isNewer(row, table.get(row.id), orEqual)) table.set(row.id, row)
}

function upsert(tables: Copies, row: AnyRow, orEqual: boolean): void {
  switch (row.kind) {
    case 'message':
      put(tables.messages, row, orEqual)
      break
    case 'member':
      put(tables.members, row, orEqual)
      break
    case 'draft':
      put(tables.drafts, row, orEqual)
      break
    case 'run':
      put(tables.runs, row, orEqual)
      break
    case 'chat':
      if (isNewer(row, tables.chat ?? undefined, orEqual)) tables.chat = row
      break
    default:
      row satisfies never
  }
}

function holds(tables: Copies, row: AnyRow): boolean {
  if (row.kind === 'message' || row.kind === 'chat') return true
  const table: Rows<Small> = row.kind === 'member' ? tables.members : row.kind === 'draft' ? tables.drafts : tables.runs
  return table.has(row.id)
}

/** Live texts that no durable row has replaced yet. */
function stillLive(live: ChatState['live'], tables: Copies): ChatState['live'] {
  const kept = new Map<string, readonly LiveText[]>()
  for (const [runId, texts] of live) {
    const run = tables.runs.get(runId)
    if (run && !isActive(run)) continue
    const open = texts.filter(
      text => !isSettled(tables.messages, text.message_id) && text.attempt >= (run?.attempt ?? 0),
    )
    if (open.length > 0) kept.set(runId, open)
  }
  return kept
}

function stillWriting(writing: ChatState['writing'], tables: Copies): ChatState['writing'] {
  const kept = [...writing].filter(([draftId, text]) => {
    const draft = tables.drafts.get(draftId)
    return !draft || (draft.status !== 'ended' && text.revision > draft.revision)
  })
  return kept.length === writing.size ? writing : new Map(kept)
}

function stillTyping(typing: ChatState['typing'], rows: readonly AnyRow[]): ChatState['typing'] {
  const spoke = rows.filter(row => row.kind === 'message').map(row => row.author_id ?? '')
  if (!spoke.some(author => typing.has(author))) return typing
  return new Map([...typing].filter(([actor]) => !spoke.includes(actor)))
}

function withTables(state: ChatState, tables: Copies, rows: readonly AnyRow[]): ChatState {
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
  const tables = copied(state)
  for (const row of frame.rows) {
    // All of the small state up to `version` is here: an unknown row that old has ended since, and must not come back.
    if (row.version <= state.version && !holds(tables, row)) continue
    upsert(tables, row, false)
  }
  const follows = frame.after <= state.version
  const version = follows ? Math.max(state.version, frame.version) : state.version
  return { ...withTables(state, tables, frame.rows), version, known: Math.max(state.known, frame.version) }
}

/** Single rows from an answer of the REST API: they change nothing about what is known to be whole. */
export function withRows(state: ChatState, rows: readonly AnyRow[]): ChatState {
  const version = state.version
  return withChanges(state, { type: 'changes', topic: '', after: version, version, rows: [...rows] })
}

/** Drops what the answer, which names the whole small state, does not name any more. */
function forgetUnnamed<T extends Small>(table: Map<string, T>, named: ReadonlySet<string>, version: number): void {
  for (const [id, row] of table) if (!named.has(id) && row.version <= version && !isEnded(row)) table.delete(id)
}

function baseOf(state: ChatState, frame: Subscribed): Copies {
  const tables = copied(state)
  if (frame.snapshot) {
    // Frames may have overtaken the snapshot: what is newer than it stays.
    for (const [id, row] of tables.messages) if (row.version <= frame.version) tables.messages.delete(id)
  }
  const named = new Set(frame.rows.map(row => row.id))
  forgetUnnamed(tables.members, named, frame.version)
  forgetUnnamed(tables.drafts, named, frame.version)
  forgetUnnamed(tables.runs, named, frame.version)
  return tables
}

function floorOf(frame: Subscribed): number {
  if (!frame.has_older) return 0
  const seqs = frame.rows.filter(row => row.kind === 'message').map(row => row.seq)
  return seqs.length > 0 ? Math.min(...seqs) : frame.version + 1
}

function liveAfter(state: ChatState, frame: Subscribed, tables: Copies): ChatState['live'] {
  const live = new Map<string, readonly LiveText[]>()
  for (const [runId, texts] of state.live) if (tables.runs.has(runId)) live.set(runId, texts)
  for (const partial of frame.partials) {
    const held = live.get(partial.run_id) ?? []
    live.set(partial.run_id, merged(held, [fromPartial(partial)]))
  }
  return stillLive(live, tables)
}

/** The answer to `subscribe`: a snapshot, or the rows since. */
export function withSubscribed(state: ChatState, frame: Subscribed): ChatState {
  const tables = baseOf(state, frame)
  for (const row of frame.rows) {
    const late = !frame.snapshot && frame.version < state.version && row.version <= state.version
    if (late && !holds(tables, row)) continue
    upsert(tables, row, true)
  }
  const base = withTables({ ...state, live: new Map() }, tables, frame.rows)
  const page = frame.snapshot ? { hasOlder: frame.has_older, floor: floorOf(frame) } : {}
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
  const tables = copied(state)
  for (const row of rows) upsert(tables, row, false)
  const lowest = rows[0]?.seq ?? state.floor
  return { ...state, messages: tables.messages, hasOlder, floor: hasOlder ? Math.min(state.floor, lowest) : 0 }
}

export function withPiece(state: ChatState, delta: Delta): ChatState {
  const run = state.runs.get(delta.run_id)
  if (isSettled(state.messages, delta.message_id) || (run && (!isActive(run) || delta.attempt < run.attempt)))
    return state
  const before = state.live.get(delta.run_id) ?? []
  const after = withDelta(before, delta)
  return after === before ? state : { ...state, live: new Map(state.live).set(delta.run_id, after) }
}

export function withWriting(state: ChatState, text: DraftText): ChatState {
  const draft = state.drafts.get(text.draft_id)
  const last = Math.max(state.writing.get(text.draft_id)?.revision ?? -1, draft?.revision ?? -1)
  if (text.revision <= last || draft?.status === 'ended') return state
  return { ...state, writing: new Map(state.writing).set(text.draft_id, text) }
}

export function withTyping(state: ChatState, actorId: string, now: number): ChatState {
  return { ...state, typing: new Map(state.typing).set(actorId, now + TYPING_MS) }
}
