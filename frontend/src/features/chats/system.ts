/** What a quiet line says, which mark it wears, and what stands under it. Pure. */
import type { SystemMessageRow, SystemPayload } from '@/api'
import type { Layer } from '@/features/layers'
import type { TextKeyWith } from '@/lib/language'
import { isBeginningOfChat } from './quiet'

type ValueName = 'version' | 'apply' | 'note' | 'via' | 'actor' | 'target' | 'agent' | 'authors'
type LineKey = Extract<TextKeyWith<ValueName>, `sys.${string}`>

export interface SystemLine {
  key: LineKey
  values: Record<ValueName, string>
  sign: Layer | 'joined' | 'left' | 'failed' | 'stopped'
  /** What its author wrote about it, under the line. */
  quote: string
  suggestionId: string | null
  /** The agent whose draft is waiting for somebody to look at it. */
  draftOf: string | null
  /** What a model says that a suggestion changes; null where none is asked. */
  summary: { state: 'pending' | 'ready' | 'failed'; text: string } | null
}

const texts: Record<SystemMessageRow['type'], { key: LineKey; sign: SystemLine['sign'] }> = {
  MEMBER_JOINED: { key: 'sys.joined', sign: 'joined' },
  MEMBER_LEFT: { key: 'sys.left', sign: 'left' },
  LOCK_ACQUIRED: { key: 'sys.lock', sign: 'writing' },
  LOCK_RELEASED: { key: 'sys.unlock', sign: 'writing' },
  DRAFT_STARTED: { key: 'sys.draft', sign: 'writing' },
  DRAFT_APPLIED: { key: 'sys.applied', sign: 'applied' },
  DRAFT_DISCARDED: { key: 'sys.discarded', sign: 'writing' },
  DRAFT_MERGED: { key: 'sys.merged', sign: 'writing' },
  SPEC_SAVED: { key: 'sys.saved', sign: 'production' },
  SUGGESTION_CREATED: { key: 'sys.suggested', sign: 'suggestion' },
  SUGGESTION_ACCEPTED: { key: 'sys.accepted', sign: 'suggestion' },
  SUGGESTION_REJECTED: { key: 'sys.rejected', sign: 'suggestion' },
  SUGGESTION_WITHDRAWN: { key: 'sys.withdrawn', sign: 'suggestion' },
  RUN_FAILED: { key: 'sys.failed', sign: 'failed' },
  RUN_STOPPED: { key: 'sys.stopped', sign: 'stopped' },
}

type NameOf = (id: string | null | undefined, fallback: string) => string

type ListOf = (names: readonly string[]) => string

/** Null for a type that this client does not know: an older page meets a newer server. */
export function systemLineOf(row: SystemMessageRow, nameOf: NameOf, listOf: ListOf): SystemLine | null {
  if (!(row.type in texts)) return null
  const text = texts[row.type]
  const about = row.payload
  const isMade = row.type === 'SUGGESTION_CREATED'
  return {
    key: keyFor(text.key, about, isBeginningOfChat(row)),
    sign: text.sign,
    values: {
      ...plainValues(about),
      actor: nameOf(about.actor_id ?? row.author_id, about.actor_name ?? ''),
      target: nameOf(about.target_id, about.target_name ?? ''),
      agent: nameOf(about.wake_id, about.wake_name ?? ''),
      authors: listOf(about.authors ?? []),
    },
    quote: isMade || row.type === 'SUGGESTION_REJECTED' ? (about.note ?? '') : '',
    suggestionId: about.suggestion_id ?? null,
    draftOf: about.via || row.type === 'DRAFT_MERGED' ? (about.target_id ?? null) : null,
    summary: isMade ? summaryOf(about) : null,
  }
}

const plainValues = (about: SystemPayload) => ({
  version: `v${about.version ?? '?'}`,
  apply: `r${about.draft_apply ?? '?'}`,
  note: about.note ?? '',
  via: about.via ?? '',
})

const summaryOf = (about: SystemPayload): SystemLine['summary'] =>
  about.summary_state ? { state: about.summary_state, text: about.summary ?? '' } : null

/** The text that fits what is known: some lines say more when there is more to say. */
function keyFor(key: LineKey, about: SystemPayload, isBeginning: boolean): LineKey {
  const isAlone = !about.target_id || about.target_id === about.actor_id
  switch (key) {
    case 'sys.joined':
      return isBeginning ? 'sys.createdAlone' : joined(isAlone, Boolean(about.wake_id))
    case 'sys.left':
      return isAlone ? 'sys.leftAlone' : key
    case 'sys.saved':
      return about.note ? 'sys.savedNote' : key
    case 'sys.draft':
    case 'sys.lock':
      return about.via ? writtenVia(about) : key
    case 'sys.accepted':
      return about.authors?.length ? 'sys.acceptedOf' : key
    case 'sys.rejected':
      return about.authors?.length ? 'sys.rejectedOf' : key
    default:
      return key
  }
}

function joined(isAlone: boolean, changesWake: boolean): LineKey {
  if (changesWake) return isAlone ? 'sys.joinedAloneWake' : 'sys.joinedWake'
  return isAlone ? 'sys.joinedAlone' : 'sys.joined'
}

const writtenVia = (about: SystemPayload): LineKey =>
  about.via === about.target_name ? 'sys.draftSelf' : 'sys.draftVia'
