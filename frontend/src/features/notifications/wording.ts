/** What a notification says, which sign it wears, and where it leads. Pure. */
import type { NotificationRow } from '@/api'
import type { Layer } from '@/features/layers'
import type { TextKeyWith } from '@/lib/language'
import { chatPath, mergePath, modelPath, suggestionPath } from '@/lib/paths'

export type Sign =
  | 'mention'
  | 'suggestion'
  | 'accepted'
  | 'rejected'
  | 'reopened'
  | 'lock'
  | 'asked'
  | 'free'
  | 'merged'
  | 'failed'
  | 'model'

type NotificationKey = TextKeyWith<'actor' | 'agent' | 'chat'>

interface Kind {
  key: NotificationKey
  /** The same with the chat's name, where that is known. */
  inChat?: NotificationKey
  sign: Sign
  layer: Layer | null
}

const kinds: Record<NotificationRow['type'], Kind> = {
  mention: { key: 'note.mention', inChat: 'note.mentionIn', sign: 'mention', layer: null },
  suggestion_created: { key: 'note.suggestionCreated', sign: 'suggestion', layer: 'suggestion' },
  suggestion_accepted: { key: 'note.suggestionAccepted', sign: 'accepted', layer: 'suggestion' },
  suggestion_rejected: { key: 'note.suggestionRejected', sign: 'rejected', layer: 'suggestion' },
  suggestion_reopened: { key: 'note.suggestionReopened', sign: 'reopened', layer: 'suggestion' },
  suggestion_unused: { key: 'note.suggestionUnused', sign: 'rejected', layer: 'suggestion' },
  lock_lost: { key: 'note.lockLost', sign: 'lock', layer: 'writing' },
  draft_requested: { key: 'note.draftAsked', inChat: 'note.draftAskedIn', sign: 'asked', layer: 'writing' },
  draft_unlocked: { key: 'note.draftFree', inChat: 'note.draftFreeIn', sign: 'free', layer: 'writing' },
  draft_handed_over: { key: 'note.draftHanded', inChat: 'note.draftHandedIn', sign: 'free', layer: 'writing' },
  merge_done: { key: 'note.mergeDone', sign: 'merged', layer: 'writing' },
  merge_failed: { key: 'note.mergeFailed', sign: 'failed', layer: null },
  model_changed: { key: 'note.modelChanged', sign: 'model', layer: null },
}

/** Null for a type that this client does not know: an older page meets a newer server. */
export function kindOf(row: NotificationRow, chat: string): Kind | null {
  const kind = kinds[row.type] as Kind | undefined
  if (!kind) return null
  return kind.inChat && chat ? { ...kind, key: kind.inChat } : kind
}

/** Where it happened, in the workspace of this handle; null when that is closed to the reader by now. */
export function pathOf(row: NotificationRow, workspace: string): string | null {
  const inChat = row.chat_id ? chatPath(workspace, row.chat_id) : null
  switch (row.type) {
    case 'mention':
      return inChat && `${inChat}#${row.message_id}`
    case 'lock_lost':
    case 'draft_requested':
    case 'draft_unlocked':
    case 'draft_handed_over':
    case 'merge_done':
      return inChat && `${inChat}?workshop=${row.agent_id}`
    case 'merge_failed':
      return row.merge_id && mergePath(workspace, row.merge_id)
    case 'model_changed':
      return modelPath(workspace)
    default:
      return row.suggestion_id && suggestionPath(workspace, row.suggestion_id)
  }
}
