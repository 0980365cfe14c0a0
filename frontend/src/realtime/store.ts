/** What this tab knows of its chats after each frame: `(state, frame) → state`. Pure. A frame may come twice, late or not at all. */
import type { ServerFrame } from '@/api/types'
import { type ChatState, emptyChat, withChanges, withDelta, withDraftText, withSubscribed, withTyping } from './chat'

export type LiveState = ReadonlyMap<string, ChatState>

export const emptyState: LiveState = new Map()

/** The state after one frame. `now` (ms) dates what fades by itself. */
export function apply(state: LiveState, frame: ServerFrame, now: number): LiveState {
  switch (frame.type) {
    case 'changes':
      return updateChat(state, frame.topic, chat => withChanges(chat, frame))
    case 'subscribed':
      return updateChat(state, frame.topic, chat => withSubscribed(chat, frame))
    case 'delta':
      return updateChat(state, frame.topic, chat => withDelta(chat, frame))
    case 'typing':
      return updateChat(state, frame.topic, chat => withTyping(chat, frame.actor_id, now))
    case 'presence':
      return updateChat(state, frame.topic, chat => ({ ...chat, present: frame.present }))
    case 'draft':
      return updateChat(state, frame.topic, chat => withDraftText(chat, frame))
    case 'access':
      return updateChat(state, frame.topic, chat => ({ ...chat, closed: !frame.allowed }))
    case 'heartbeat':
      return withHeartbeat(state, frame.versions)
    case 'error':
      return withRefusal(state, frame.topic, frame.code)
    case 'list_changed':
    case 'chat_activity':
    case 'progress':
    case 'agent_states':
      return state
    default:
      return frame satisfies never
  }
}

export function updateChat(state: LiveState, topic: string, change: (chat: ChatState) => ChatState): LiveState {
  if (!topic.startsWith('chat:')) return state
  const before = state.get(topic) ?? emptyChat
  const after = change(before)
  return after === before ? state : new Map(state).set(topic, after)
}

/** A chat that may not be followed is closed; any other refusal is about one frame only. */
function withRefusal(state: LiveState, topic: string | null, code: string): LiveState {
  if (topic === null || !['not_found', 'forbidden'].includes(code)) return state
  return updateChat(state, topic, chat => ({ ...chat, closed: true }))
}

function withHeartbeat(state: LiveState, versions: Record<string, number>): LiveState {
  return Object.entries(versions).reduce(
    (all, [topic, version]) =>
      all.has(topic)
        ? updateChat(all, topic, chat => (version > chat.known ? { ...chat, known: version } : chat))
        : all,
    state,
  )
}

export const isBehind = (chat: ChatState) => chat.loaded && chat.known > chat.version

/** Chats that are kept after they were left: going back to them shows them at once. */
export const MAX_LEFT = 20

/** Forgets the chats that were left longest ago. `left` is in the order of leaving; returns what is kept of both. */
export function evictOldChats(state: LiveState, left: readonly string[]): [LiveState, readonly string[]] {
  const old = new Set(left.slice(0, Math.max(0, left.length - MAX_LEFT)))
  if (old.size === 0) return [state, left]
  return [new Map([...state].filter(([topic]) => !old.has(topic))), left.filter(topic => !old.has(topic))]
}
