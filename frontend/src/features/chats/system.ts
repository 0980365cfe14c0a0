/** What a quiet line says, and which mark it wears. */
import type { AboutPayload, MessageRow } from '@/api'
import type { TextKey, Values } from '@/lib/language'
import type { Layer } from '@/ui/Mark'

export interface SystemLine {
  key: TextKey
  values: Values
  sign: Layer | 'joined' | 'left' | 'failed' | 'stopped'
}

const texts: Partial<Record<string, { key: TextKey; sign: SystemLine['sign'] }>> = {
  MEMBER_JOINED: { key: 'sys.joined', sign: 'joined' },
  MEMBER_LEFT: { key: 'sys.left', sign: 'left' },
  LOCK_ACQUIRED: { key: 'sys.lock', sign: 'writing' },
  LOCK_RELEASED: { key: 'sys.unlock', sign: 'writing' },
  DRAFT_STARTED: { key: 'sys.draft', sign: 'writing' },
  DRAFT_APPLIED: { key: 'sys.applied', sign: 'applied' },
  DRAFT_DISCARDED: { key: 'sys.discarded', sign: 'writing' },
  SPEC_SAVED: { key: 'sys.saved', sign: 'production' },
  RUN_FAILED: { key: 'sys.failed', sign: 'failed' },
  RUN_STOPPED: { key: 'sys.stopped', sign: 'stopped' },
}

type NameOf = (id: string | null | undefined, kept: string) => string

/** Null for a type that this client does not know: an older page meets a newer server. */
export function systemLineOf(row: MessageRow, nameOf: NameOf): SystemLine | null {
  const text = texts[row.type]
  if (!text) return null
  const about = row.payload as unknown as AboutPayload
  const isAlone = !about.target_id || about.target_id === about.actor_id
  const key = isAlone ? alone(text.key) : about.note && text.key === 'sys.saved' ? 'sys.savedNote' : text.key
  return {
    key,
    sign: text.sign,
    values: {
      actor: nameOf(about.actor_id ?? row.author_id, about.actor_name ?? ''),
      target: nameOf(about.target_id, about.target_name ?? ''),
      version: `v${about.version ?? '?'}`,
      apply: `r${about.draft_apply ?? '?'}`,
      note: about.note ?? '',
    },
  }
}

function alone(key: TextKey): TextKey {
  if (key === 'sys.joined') return 'sys.joinedAlone'
  if (key === 'sys.left') return 'sys.leftAlone'
  return key
}
