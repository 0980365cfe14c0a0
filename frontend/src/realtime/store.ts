/** The state of the chats in this tab: `(state, frame) → state`. Pure functions. A frame may arrive twice, late or not at all. */
import type { ServerFrame } from '@/api/types'
import {
  applyChanges,
  applyDelta,
  applyDraftText,
  applySubscriptionReply,
  applyTyping,
  type ChatState,
  emptyChat,
} from './chat'

export type ChatStates = ReadonlyMap<string, ChatState>

export const emptyState: ChatStates = new Map()

/** Applies a frame. `now` is the current time in ms; it sets the time at which a typing notice expires. */
export function applyFrame(state: ChatStates, frame: ServerFrame, now: number): ChatStates {
  switch (frame.type) {
    case 'changes':
      return updateChat(state, frame.topic, chat => applyChanges(chat, frame))
    case 'subscribed':
      return updateChat(state, frame.topic, chat => applySubscriptionReply(chat, frame))
    case 'delta':
      return updateChat(state, frame.topic, chat => applyDelta(chat, frame))
    case 'typing':
      return updateChat(state, frame.topic, chat => applyTyping(chat, frame.actor_id, now))
    case 'presence':
      return updateChat(state, frame.topic, chat => ({ ...chat, present: frame.present }))
    case 'draft':
      return updateChat(state, frame.topic, chat => applyDraftText(chat, frame))
    case 'access':
      return updateChat(state, frame.topic, chat => ({ ...chat, closed: !frame.allowed }))
    case 'heartbeat':
      return applyHeartbeat(state, frame.versions)
    case 'error':
      return applyError(state, frame.topic, frame.code)
    case 'list_changed':
    case 'chat_activity':
    case 'progress':
    case 'agent_states':
      return state
    default:
      return frame satisfies never
  }
}

export function updateChat(state: ChatStates, topic: string, change: (chat: ChatState) => ChatState): ChatStates {
  if (!topic.startsWith('chat:')) return state
  const before = state.get(topic) ?? emptyChat
  const after = change(before)
  return after === before ? state : new Map(state).set(topic, after)
}

/** Closes a chat to which access is denied; any other error concerns a single frame. */
function applyError(state: ChatStates, topic: string | null, code: string): ChatStates {
  if (topic === null || !['not_found', 'forbidden'].includes(code)) return state
  return updateChat(state, topic, chat => ({ ...chat, closed: true }))
}

function applyHeartbeat(state: ChatStates, versions: Record<string, number>): ChatStates {
  return Object.entries(versions).reduce(
    (all, [topic, version]) =>
      all.has(topic)
        ? updateChat(all, topic, chat => (version > chat.known ? { ...chat, known: version } : chat))
        : all,
    state,
  )
}

export const isBehind = (chat: ChatState) => chat.loaded && chat.known > chat.version

/** Number of chats that are kept after they were left, so that they are shown at once on return. */
export const MAX_LEFT = 20

/** Drops the chats that were left longest ago. `left` is in the order of leaving. Returns the remaining state and topics. */
export function evictOldChats(state: ChatStates, left: readonly string[]): [ChatStates, readonly string[]] {
  const old = new Set(left.slice(0, Math.max(0, left.length - MAX_LEFT)))
  if (old.size === 0) return [state, left]
  return [new Map([...state].filter(([topic]) => !old.has(topic))), left.filter(topic => !old.has(topic))]
}
