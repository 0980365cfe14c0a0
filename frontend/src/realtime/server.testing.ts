/** For tests: a small server of one chat. It sends changes as frames, as catch-up and as a snapshot. */
import type {
  AnyRow,
  Changes,
  DraftRow,
  MessageRow,
  ParticipantRow,
  RunRow,
  SpecContent,
  Subscribed,
} from '@/api/types'
import { type ChatState, isEnded } from './chat'

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
  created_at: at,
  edited_at: null,
  deleted: false,
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

const written: SpecContent = {
  prompt: '',
  model: '',
  parameters: { temperature: null, top_p: null, max_tokens: null },
  limits: { max_steps: 10, max_seconds: 1800 },
  memory: 'chat',
  tools: [],
}

export const draft = (id: string, version: number, revision: number, status: DraftRow['status']): DraftRow => ({
  kind: 'draft',
  id,
  chat_id: 'c',
  version,
  agent_id: 'robin',
  status,
  written,
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
  wake: 'mention',
  joined_at: at,
  ended,
  actor: {
    id,
    kind: 'human',
    name: id,
    handle: id,
    description: null,
    workspace_id: null,
    is_public: false,
    avatar: null,
  },
})

/** One change: what kind of row, and which of a few of that kind. */
export interface Change {
  what: 'post' | 'edit' | 'run' | 'draft' | 'participant'
  which: number
}

/** The rows after each version; index 0 is before anything happened. */
export class ServerChat {
  readonly frames: Changes[] = []
  private readonly past: ReadonlyMap<string, AnyRow>[] = [new Map()]

  constructor(changes: readonly Change[]) {
    for (const change of changes) this.commit(change)
  }

  get version(): number {
    return this.frames.length
  }

  private commit(change: Change): void {
    const version = this.version + 1
    const before = this.past.at(-1) ?? new Map<string, AnyRow>()
    const row = changed(before, change, version)
    this.past.push(new Map(before).set(row.id, row))
    this.frames.push({ type: 'changes', topic, after: version - 1, version, rows: [row] })
  }

  snapshot(version = this.version): Subscribed {
    const rows = [...(this.past[version]?.values() ?? [])].filter(isSent)
    return { type: 'subscribed', topic, version, snapshot: true, has_older: false, rows, partials: [], present: [] }
  }

  since(since: number, version = this.version): Subscribed {
    const rows = [...(this.past[version]?.values() ?? [])].filter(isSent)
    const fresh = rows.filter(row => row.kind !== 'message' || row.version > since)
    return { ...this.snapshot(version), snapshot: false, rows: fresh }
  }
}

const isSent = (row: AnyRow) => row.kind === 'message' || row.kind === 'chat' || !isEnded(row)

function changed(before: ReadonlyMap<string, AnyRow>, { what, which }: Change, version: number): AnyRow {
  const id = `${what}${which}`
  const known = before.get(id)
  switch (what) {
    case 'post':
      return message(`post${version}`, version, version, 'said')
    case 'edit':
      return editOf(before, which, version)
    case 'run':
      return run(id, version, known?.kind === 'run' && !isEnded(known) ? 'completed' : 'running')
    case 'draft':
      return draftAfter(known, id, version)
    case 'participant':
      return participant(id, version, known?.kind === 'participant' && !known.ended)
  }
}

function editOf(before: ReadonlyMap<string, AnyRow>, which: number, version: number): MessageRow {
  const messages = [...before.values()].filter(row => row.kind === 'message')
  const old = messages[which % Math.max(1, messages.length)]
  return old
    ? message(old.id, version, old.seq, `edited at ${version}`)
    : message(`post${version}`, version, version, 'said')
}

function draftAfter(known: AnyRow | undefined, id: string, version: number): DraftRow {
  if (known?.kind !== 'draft') return draft(id, version, 1, 'drafting')
  return draft(id, version, known.revision + 1, known.status === 'drafting' ? 'ended' : 'drafting')
}

/** What must be equal however it was learnt. */
export function durable(chat: ChatState | undefined) {
  const live = <T extends ParticipantRow | DraftRow | RunRow>(rows: ReadonlyMap<string, T> | undefined) =>
    [...(rows?.values() ?? [])].filter(row => !isEnded(row)).sort((a, b) => a.id.localeCompare(b.id))
  return {
    version: chat?.version,
    // A snapshot's chat row carries the counter of everything, a frame's the one of its own last change.
    chat: chat?.chat && { ...chat.chat, version: 0 },
    messages: [...(chat?.messages.values() ?? [])].sort((a, b) => a.seq - b.seq),
    log: chat?.log,
    participants: live(chat?.participants),
    drafts: live(chat?.drafts),
    runs: live(chat?.runs),
  }
}
