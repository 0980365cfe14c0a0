/** The socket and the store: one of each per tab. */
import { useCallback, useEffect } from 'react'
import type { AnyRow, MessageRow, ServerFrame } from '@/api/types'
import { type Observable, observable, useSelector } from '@/lib/observable'
import { type ChatState, emptyChat, withOlder, withRows } from './chat'
import { type Connection, LiveSocket } from './socket'
import { apply, emptyState, evictOldChats, isBehind, type LiveState, updateChat } from './store'
import { chatTopic, type Topic } from './topics'

/** The hub repairs a gap by itself within moments; only when that fails is it asked. */
const REPAIR_MS = 1_000

const liveState: Observable<LiveState> = observable(emptyState)
export const connection: Observable<Connection> = observable<Connection>({ state: 'off' })

const listeners = new Set<(frame: ServerFrame) => void>()
const signOutListeners = new Set<() => void>()
let leftTopics: readonly string[] = []
const repairs = new Map<string, ReturnType<typeof setTimeout>>()

const socketUrl = () => `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ws/`

const socket = new LiveSocket(socketUrl, {
  onFrame: receive,
  onConnection: connection.set,
  onSignedOut: () => {
    for (const leave of signOutListeners) leave()
  },
  since: topic => {
    const chat = liveState.get().get(topic)
    return chat?.loaded ? chat.version : null
  },
})

function receive(frame: ServerFrame): void {
  liveState.set(apply(liveState.get(), frame, Date.now()))
  for (const listener of listeners) listener(frame)
  for (const [topic, chat] of liveState.get()) if (isBehind(chat)) repairSoon(topic)
}

function repairSoon(topic: string): void {
  if (repairs.has(topic)) return
  const repair = () => {
    repairs.delete(topic)
    const chat = liveState.get().get(topic)
    // What nobody has open any more is asked for when it is opened again.
    if (!chat || !isBehind(chat) || !socket.isFollowed(topic)) return
    socket.subscribe(topic)
    repairSoon(topic)
  }
  repairs.set(topic, setTimeout(repair, REPAIR_MS))
}

export function startLive(): void {
  socket.start()
}

/** Ends the line and forgets everything: the next person at this tab sees nothing of it. */
export function stopLive(): void {
  socket.stop()
  liveState.set(emptyState)
  leftTopics = []
}

export const reconnectNow = () => socket.reconnectNow()

/** Call the listener with every frame. Returns the unsubscribe function. */
export function onFrame(listener: (frame: ServerFrame) => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Call the listener when the session has ended. Returns the unsubscribe function. */
export function onSignedOut(listener: () => void): () => void {
  signOutListeners.add(listener)
  return () => signOutListeners.delete(listener)
}

export function useTopic(topic: Topic | null): void {
  useEffect(() => {
    if (!topic) return
    const unfollow = socket.follow(topic)
    return () => {
      unfollow()
      leave(topic)
    }
  }, [topic])
}

/** Remember that a chat was left, and drop those left long ago: a tab may be open for weeks. */
function leave(topic: Topic): void {
  const before = liveState.get()
  const order = [...leftTopics.filter(one => one !== topic), topic]
  const [state, kept] = evictOldChats(
    before,
    order.filter(one => before.has(one) && !socket.isFollowed(one)),
  )
  leftTopics = kept
  liveState.set(state)
}

/** Asks for a topic again, e.g. when somebody was let in again. */
export const resubscribe = (topic: Topic) => socket.subscribe(topic)

/** Put the rows of a REST answer into the store, before their frame comes. */
export function upsertRows(chatId: string, rows: readonly AnyRow[]): void {
  liveState.set(updateChat(liveState.get(), chatTopic(chatId), chat => (chat.loaded ? withRows(chat, rows) : chat)))
}

export function prependHistory(chatId: string, rows: readonly MessageRow[], hasOlder: boolean): void {
  liveState.set(updateChat(liveState.get(), chatTopic(chatId), chat => withOlder(chat, rows, hasOlder)))
}

export function sendTyping(chatId: string): void {
  socket.send({ type: 'typing', topic: chatTopic(chatId) })
}

/** Send how far this person has read; returns whether it was sent. */
export const sendRead = (chatId: string, seq: number): boolean =>
  socket.send({ type: 'mark_read', topic: chatTopic(chatId), seq })

export const chatState = (chatId: string): ChatState => liveState.get().get(chatTopic(chatId)) ?? emptyChat

/** A part of one chat's state. Keep `part` stable (module level or memoised). */
export function useChatSelector<P>(chatId: string, part: (chat: ChatState) => P, isEqual?: (a: P, b: P) => boolean): P {
  const read = useCallback((state: LiveState) => part(state.get(chatTopic(chatId)) ?? emptyChat), [chatId, part])
  return useSelector(liveState, read, isEqual)
}

export const useConnection = () => useSelector(connection, identity)
const identity = (value: Connection) => value

if (typeof window !== 'undefined') {
  window.addEventListener('online', reconnectNow)
  window.addEventListener('offline', () => socket.reconnectLater())
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && reconnectNow())
}
