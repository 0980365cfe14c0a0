/** The socket and the store, of which each tab has one. */
import { useCallback, useEffect } from 'react'
import type { AnyRow, MessageRow, ServerFrame } from '@/api/types'
import { type Observable, observable, useSelector } from '@/lib/observable'
import { isViewing } from '@/lib/viewing'
import { addEndedRows, addOlderMessages, applyRows, type ChatState, emptyChat } from './chat'
import { type Connection, RealtimeSocket } from './socket'
import { applyFrame, type ChatStates, emptyState, evictOldChats, isBehind, updateChat } from './store'
import { chatTopic, type Topic } from './topics'

/** Delay before missed frames are requested, in ms. Usually the hub sends them by itself. */
const CATCH_UP_DELAY_MS = 1_000

const chatStates: Observable<ChatStates> = observable(emptyState)
export const connection: Observable<Connection> = observable<Connection>({ state: 'off' })

const listeners = new Set<(frame: ServerFrame) => void>()
const signOutListeners = new Set<() => void>()
let leftTopics: readonly string[] = []
const catchUpTimers = new Map<string, ReturnType<typeof setTimeout>>()

const socketUrl = () => `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ws/`

const socket = new RealtimeSocket(socketUrl, {
  onFrame: receive,
  onConnection: connection.set,
  onSignedOut: () => {
    for (const listener of signOutListeners) listener()
  },
  since: topic => {
    const chat = chatStates.get().get(topic)
    return chat?.loaded ? chat.version : null
  },
})

function receive(frame: ServerFrame): void {
  chatStates.set(applyFrame(chatStates.get(), frame, Date.now()))
  for (const listener of listeners) listener(frame)
  for (const [topic, chat] of chatStates.get()) if (isBehind(chat)) scheduleCatchUp(topic)
}

/** Requests the frames that a chat has missed, after a delay, until it has them. */
function scheduleCatchUp(topic: string): void {
  if (catchUpTimers.has(topic)) return
  const catchUp = () => {
    catchUpTimers.delete(topic)
    const chat = chatStates.get().get(topic)
    // A chat that is not open needs no catch-up: opening it subscribes, which reads what it has missed.
    if (!chat || !isBehind(chat) || !socket.isSubscribed(topic)) return
    socket.sendSubscribe(topic) // the answer has the rows that changed since those in the store
    scheduleCatchUp(topic)
  }
  catchUpTimers.set(topic, setTimeout(catchUp, CATCH_UP_DELAY_MS))
}

export function startRealtime(): void {
  socket.start()
}

/** Closes the socket and clears the store, so that the next person in this tab sees nothing of it. */
export function stopRealtime(): void {
  socket.stop()
  chatStates.set(emptyState)
  leftTopics = []
}

const reconnectNow = () => socket.reconnectNow()
export const replaceConnection = () => socket.replaceConnection()

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
    const unsubscribe = socket.subscribe(topic)
    return () => {
      unsubscribe()
      handleLeave(topic)
    }
  }, [topic])
}

/** Remembers that a chat was left. Of many such chats, drops those left longest ago: a tab may stay open for weeks. */
function handleLeave(topic: Topic): void {
  const before = chatStates.get()
  const order = [...leftTopics.filter(other => other !== topic), topic]
  const [state, kept] = evictOldChats(
    before,
    order.filter(other => before.has(other) && !socket.isSubscribed(other)),
  )
  leftTopics = kept
  chatStates.set(state)
}

/** Subscribes to a topic again, for example after the person was added to the chat again. */
export const resubscribe = (topic: Topic) => socket.sendSubscribe(topic)

/** Puts the rows of a REST response into the store, before their frame arrives. */
export function upsertRows(chatId: string, rows: readonly AnyRow[]): void {
  chatStates.set(updateChat(chatStates.get(), chatTopic(chatId), chat => (chat.loaded ? applyRows(chat, rows) : chat)))
}

/** Puts rows that have ended into the store, which clients get by REST only. */
export function upsertEndedRows(chatId: string, rows: readonly AnyRow[]): void {
  chatStates.set(
    updateChat(chatStates.get(), chatTopic(chatId), chat => (chat.loaded ? addEndedRows(chat, rows) : chat)),
  )
}

export function prependOlderMessages(chatId: string, rows: readonly MessageRow[], hasOlder: boolean): void {
  chatStates.set(updateChat(chatStates.get(), chatTopic(chatId), chat => addOlderMessages(chat, rows, hasOlder)))
}

export function sendTyping(chatId: string): void {
  if (isViewing()) return
  socket.send({ type: 'typing', topic: chatTopic(chatId) })
}

/** Sends the read cursor of this person. Returns whether it was sent. */
export const sendRead = (chatId: string, seq: number): boolean =>
  socket.send({ type: 'mark_read', topic: chatTopic(chatId), seq })

export const chatState = (chatId: string): ChatState => chatStates.get().get(chatTopic(chatId)) ?? emptyChat

/** Selects a part of a chat's state. `selector` must be stable (at module level or memoized). */
export function useChatSelector<P>(
  chatId: string,
  selector: (chat: ChatState) => P,
  isEqual?: (a: P, b: P) => boolean,
): P {
  const select = useCallback(
    (state: ChatStates) => selector(state.get(chatTopic(chatId)) ?? emptyChat),
    [chatId, selector],
  )
  return useSelector(chatStates, select, isEqual)
}

export const useConnection = () => useSelector(connection, identity)
const identity = (value: Connection) => value

if (typeof window !== 'undefined') {
  window.addEventListener('online', reconnectNow)
  window.addEventListener('offline', () => socket.reconnectLater())
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && reconnectNow())
}
