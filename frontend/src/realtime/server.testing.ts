/** A simulated server with one chat, for tests. It sends changes as frames, as rows since a version, and as a snapshot. */
import { defaultSpec } from '@/api/generated/defaultSpec'
import type { AnyRow, Changes, DraftRow, MessageRow, ParticipantRow, RunRow, Subscribed } from '@/api/types'
import { type ChatState, emptyChat, isEnded } from './chat'

export const topic = 'chat:c'
const at = '2026-11-20T10:00:00Z'

export const message = (id: string, version: number, seq: number, text: string): MessageRow => ({
  kind: 'message',
  id,
  chat_id: 'c',
  version,
  seq,
  author_id: 'alice',
  type: 'TEXT_MESSAGE',
  payload: { text, mentions: [], wake: 'auto', incomplete: false, greeting: false },
  reply_to: null,
  run_id: null,
  metadata: null,
  created_at: at,
  edited_at: null,
  deleted_at: null,
  pinned_at: null,
  pinned_by: null,
  reactions: null,
  thumbs: null,
  group_seq: null,
  is_unused: false,
})

export const run = (id: string, version: number, state: RunRow['state']): RunRow => ({
  kind: 'run',
  id,
  chat_id: 'c',
  version,
  agent_id: 'robin',
  state,
  attempt: 1,
  trigger_id: null,
  answered_ids: null,
  group_seq: null,
  parent_id: null,
  metadata: null,
  steps: 0,
  max_steps: null,
  on_behalf_of: null,
  triggered_by: null,
  stamp: null,
  stopping: false,
  error_code: null,
  retry_at: null,
  error: null,
  created_at: at,
  started_at: null,
  ended_at: null,
})

export const draft = (id: string, version: number, revision: number, status: DraftRow['status']): DraftRow => ({
  kind: 'draft',
  id,
  chat_id: 'c',
  version,
  agent_id: 'robin',
  status,
  written: defaultSpec,
  applied: null,
  applied_spec_id: null,
  applied_by: null,
  apply_count: 0,
  revision,
  base_version: 1,
  lock_holder_id: 'alice',
  lock_expires_at: at,
  created_by: 'alice',
  updated_by: 'alice',
  updated_at: at,
  outcome: null,
  provenance: null,
  votes: [],
  requested_by: [],
})

const participant = (id: string, version: number, ended: boolean): ParticipantRow => ({
  kind: 'participant',
  id,
  chat_id: 'c',
  version,
  response: 'mentions',
  joined_at: at,
  last_read_seq: null,
  ended,
  actor: {
    id,
    kind: 'human',
    name: id,
    handle: id,
    description: null,
    workspace_id: null,
    is_public: false,
    is_taken_down: false,
    avatar: null,
  },
})

/** A change: the kind of row, and the index of one of a few rows of that kind. */
export interface Change {
  kind: 'post' | 'edit' | 'run' | 'draft' | 'participant'
  index: number
}

/** A chat with its rows after each version; version 0 is empty. */
export class ServerChat {
  readonly frames: Changes[] = []
  private readonly rowsByVersion: ReadonlyMap<string, AnyRow>[] = [new Map()]

  constructor(changes: readonly Change[]) {
    for (const change of changes) this.commit(change)
  }

  get version(): number {
    return this.frames.length
  }

  private commit(change: Change): void {
    const version = this.version + 1
    const before = this.rowsByVersion.at(-1) ?? new Map<string, AnyRow>()
    const row = buildChangedRow(before, change, version)
    this.rowsByVersion.push(new Map(before).set(row.id, row))
    this.frames.push({ type: 'changes', topic, after: version - 1, version, rows: [row] })
  }

  snapshot(version = this.version): Subscribed {
    const rows = [...(this.rowsByVersion[version]?.values() ?? [])].filter(isInSnapshot)
    return { type: 'subscribed', topic, version, snapshot: true, has_older: false, rows, partials: [], present: [] }
  }

  since(since: number, version = this.version): Subscribed {
    const rows = [...(this.rowsByVersion[version]?.values() ?? [])].filter(isInSnapshot)
    const newRows = rows.filter(row => row.kind !== 'message' || row.version > since)
    return { ...this.snapshot(version), snapshot: false, rows: newRows }
  }
}

const isInSnapshot = (row: AnyRow) => !isEnded(row)

function buildChangedRow(before: ReadonlyMap<string, AnyRow>, { kind, index }: Change, version: number): AnyRow {
  const id = `${kind}${index}`
  const known = before.get(id)
  switch (kind) {
    case 'post':
      return message(`post${version}`, version, version, 'text')
    case 'edit':
      return buildEdit(before, index, version)
    case 'run':
      return run(id, version, known?.kind === 'run' && !isEnded(known) ? 'completed' : 'running')
    case 'draft':
      return buildNextDraft(known, id, version)
    case 'participant':
      return participant(id, version, known?.kind === 'participant' && !known.ended)
  }
}

function buildEdit(before: ReadonlyMap<string, AnyRow>, index: number, version: number): MessageRow {
  const messages = [...before.values()].filter(row => row.kind === 'message')
  const edited = messages[index % Math.max(1, messages.length)]
  return edited
    ? message(edited.id, version, edited.seq, `edited at ${version}`)
    : message(`post${version}`, version, version, 'text')
}

function buildNextDraft(known: AnyRow | undefined, id: string, version: number): DraftRow {
  if (known?.kind !== 'draft') return draft(id, version, 1, 'drafting')
  return draft(id, version, known.revision + 1, known.status === 'drafting' ? 'ended' : 'drafting')
}

/**
 * The draft with the text that has been written since its row was sent, which is not applied yet. A frame of a text doesn't say by
 * whom and when.
 */
function withWriting(draft: DraftRow, chat: ChatState): DraftRow {
  const { revision, written, lock_holder_id, lock_expires_at } = chat.writing.get(draft.id) ?? draft
  const newer = { revision, written, lock_holder_id, lock_expires_at, status: 'drafting' } as const
  const newest = revision > draft.revision ? newer : {}
  return { ...draft, ...newest, updated_by: draft.created_by, updated_at: at }
}

/** Returns the parts of a chat's state that must be equal however they were received. */
export function selectDurable(chat: ChatState = emptyChat) {
  const tables: readonly ReadonlyMap<string, AnyRow>[] = Object.values(chat.rows)
  const rows = tables.flatMap(table => [...table.values()]).filter(row => row.kind !== 'message' && !isEnded(row))
  return {
    version: chat.version,
    messages: [...chat.rows.message.values()].sort((a, b) => a.seq - b.seq),
    log: chat.log,
    others: rows
      .map(row => normalizeRow(row, chat))
      .sort((a, b) => `${a.kind} ${a.id}`.localeCompare(`${b.kind} ${b.id}`)),
  }
}

function normalizeRow(row: AnyRow, chat: ChatState): AnyRow {
  if (row.kind === 'draft') return withWriting(row, chat)
  // In a snapshot, the chat row has the version of the chat; in a frame, the version of its last change.
  return row.kind === 'chat' ? { ...row, version: 0 } : row
}
