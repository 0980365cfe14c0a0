/**
 * The messages of this person that the server has not confirmed yet. A message has an id, so sending it twice posts it once.
 * The tabs of a browser share the outbox: each message has a storage key, and one tab at a time sends those of a chat, oldest
 * first.
 */
import { useMemo } from 'react'
import { ApiError, type ErrorCode, type MessageRow, type NewMessage, postFile, postMessage } from '@/api'
import { getRetryAfter } from '@/lib/errors'
import { runExclusively } from '@/lib/exclusively'
import { observable, useSelector } from '@/lib/observable'
import { sameItems } from '@/lib/sameItems'
import { canStore, listStored, onStoredElsewhere, readStored, writeStored } from '@/lib/storage'
import { backoff, connection, upsertRows } from '@/realtime'

/** An uploaded file that is sent with a message. */
export interface SentFile {
  id: string
  name: string
}

/** A message with its files, which are posted before it. Its text is empty if there are only files. */
export interface Unsent extends NewMessage {
  files?: readonly SentFile[]
  chat_id: string
  created_at: string
  /**
   * The error code of the last attempt; for a message that waits behind another one, the error code of the other one.
   * Null while it is being sent. The field keeps the name under which browsers have stored it.
   */
  failed: ErrorCode | null
  /** The time of the automatic retry, in ms. Without it, a failed message waits for its author. */
  retryAt?: number
}

const KEY_PREFIX = 'atelier.unsent.'
/** The key of the storage format of earlier versions: one list of all messages. */
const LEGACY_KEY = 'atelier.unsent'
/** How long a tab may take to send its message before another tab sends it, in ms. */
const TAKE_OVER_MS = 5_000
/** How long the storage event of another tab may take, in ms. */
const SYNC_WAIT_MS = 2_000

const outbox = observable<readonly Unsent[]>([])

/**
 * A pending entry is being sent, or waits for its automatic retry. Any other entry has failed for good: its author
 * sends it again or discards it. A waiting entry has both the reason (`failed`) and the time of its retry (`retryAt`).
 */
const isWaiting = (entry: Unsent) => entry.failed !== null && entry.retryAt !== undefined
const isPending = (entry: Unsent) => entry.failed === null || isWaiting(entry)

const compareTimes = (a: Unsent, b: Unsent) =>
  a.created_at < b.created_at || (a.created_at === b.created_at && a.id < b.id) ? -1 : 1

/** Resets messages that failed without a session or a connection: a fresh page sends them again. */
const resetAfterReload = (entry: Unsent): Unsent =>
  entry.failed === 'not_signed_in' || entry.failed === 'unreachable' ? resetEntry(entry) : entry

/** Loads the unsent messages of the signed-in person. Nothing is sent or stored before. */
export function startOutbox(): void {
  for (const entry of readStored<Unsent[]>(LEGACY_KEY, [])) writeStored(KEY_PREFIX + entry.id, entry)
  writeStored(LEGACY_KEY, null)
  outbox.set([...listStored<Unsent>(KEY_PREFIX).values()].map(resetAfterReload).sort(compareTimes))
  onStoredElsewhere<Unsent>(KEY_PREFIX, applyStoredChange)
  connection.subscribe(() => {
    if (connection.get().state === 'open') sendPending()
  })
  window.addEventListener('online', () => sendPending())
  sendPending()
}

const selectChat = (chatId: string) => (entries: readonly Unsent[]) => entries.filter(entry => entry.chat_id === chatId)

export function useUnsent(chatId: string): readonly Unsent[] {
  const select = useMemo(() => selectChat(chatId), [chatId])
  return useSelector(outbox, select, sameItems)
}

const findEntry = (id: string) => outbox.get().find(entry => entry.id === id)

function remove(id: string): void {
  outbox.set(outbox.get().filter(entry => entry.id !== id))
  writeStored(KEY_PREFIX + id, null)
}

/** Replaces an entry if it still exists. */
function replace(entry: Unsent): void {
  if (!findEntry(entry.id)) return
  outbox.set(outbox.get().map(other => (other.id === entry.id ? entry : other)))
  writeStored(KEY_PREFIX + entry.id, entry)
}

/** Posts a message and the files that belong to it. It is shown at once and marked as sending. */
export function send(chatId: string, message: NewMessage, files: readonly SentFile[] = []): Promise<void> {
  const entry: Unsent = {
    ...message,
    ...(files.length > 0 ? { files } : {}),
    chat_id: chatId,
    created_at: new Date().toISOString(),
    failed: null,
  }
  outbox.set([...outbox.get(), entry])
  writeStored(KEY_PREFIX + entry.id, entry)
  return deliver(chatId)
}

/** Sends a failed message again, and all pending messages of the chat, so that they arrive in the order of writing. */
export async function sendAgain(id: string): Promise<void> {
  const entry = findEntry(id)
  if (!entry?.failed) return
  replace(resetEntry(entry))
  await resume(entry.chat_id)
}

/** Discards a message that was not sent. Sends those of the chat that waited behind it. */
export function discard(id: string): void {
  const entry = findEntry(id)
  remove(id)
  if (entry) void resume(entry.chat_id)
}

const resetEntry = ({ retryAt: _, ...entry }: Unsent): Unsent => ({ ...entry, failed: null })

/** Sends the pending messages of a chat now, without waiting for their retries. */
async function resume(chatId: string): Promise<void> {
  clearTimeout(timers.get(chatId))
  for (const entry of selectChat(chatId)(outbox.get())) if (isWaiting(entry)) replace(resetEntry(entry))
  await deliver(chatId)
}

/** Sends the pending messages of all chats now. */
function sendPending(): void {
  for (const chatId of new Set(
    outbox
      .get()
      .filter(isPending)
      .map(entry => entry.chat_id),
  ))
    void resume(chatId)
}

const timers = new Map<string, ReturnType<typeof setTimeout>>()
const attempts = new Map<string, number>()

function resumeLater(chatId: string, ms: number): void {
  clearTimeout(timers.get(chatId))
  timers.set(
    chatId,
    setTimeout(() => void resume(chatId), ms),
  )
}

/**
 * Applies a change by another tab, which sends its own messages. If that tab does not, this one sends them after
 * `TAKE_OVER_MS`.
 */
function applyStoredChange(id: string, entry: Unsent | null): void {
  const others = outbox.get().filter(entry => entry.id !== id)
  outbox.set(entry ? [...others, entry].sort(compareTimes) : others)
  if (entry && isPending(entry))
    resumeLater(entry.chat_id, Math.max(0, (entry.retryAt ?? 0) - Date.now()) + TAKE_OVER_MS)
}

const deliver = (chatId: string) => runExclusively(`${KEY_PREFIX}${chatId}`, () => sendAll(chatId))

/** Sends the pending messages of a chat one after the other, up to one that has to wait. */
async function sendAll(chatId: string): Promise<void> {
  for (;;) {
    const entry = selectChat(chatId)(outbox.get()).find(isPending)
    if (!entry) return
    if (isWaiting(entry)) return delayFollowing(entry)
    if (isMissingFromStorage(entry) && (await isSentElsewhere(entry))) continue
    await sendOne(entry)
  }
}

/** Returns whether the entry is no longer in the storage: another tab has sent it, or the browser's data was cleared. */
const isMissingFromStorage = ({ id }: Unsent) => canStore() && readStored<Unsent | null>(KEY_PREFIX + id, null) === null

/**
 * Returns whether another tab has sent the message: its storage event then arrives soon. Otherwise the message is sent,
 * because sending it twice is harmless and losing it is not.
 */
async function isSentElsewhere({ id }: Unsent): Promise<boolean> {
  for (let waited = 0; waited < SYNC_WAIT_MS && findEntry(id); waited += 50)
    await new Promise(resolve => setTimeout(resolve, 50))
  return !findEntry(id)
}

async function sendOne(entry: Unsent): Promise<void> {
  const { chat_id, created_at: _, failed: __, retryAt: ___, files = [], ...message } = entry
  try {
    await postFiles(entry, files)
    if (message.text) confirm(chat_id, await postMessage(chat_id, message))
    else remove(entry.id)
    attempts.delete(chat_id)
  } catch (error) {
    const failed = error instanceof ApiError ? error.code : 'refused'
    const pause = getRetryDelay(chat_id, failed, getRetryAfter(error))
    if (pause === null) return replace({ ...entry, failed })
    replace({ ...entry, failed, retryAt: Date.now() + pause })
    resumeLater(chat_id, pause)
  }
}

/** Posts the files before the text, so that an agent woken by the text finds them. Without a text, the last file wakes agents. */
async function postFiles(
  { chat_id, text, wake = 'auto', reply_to }: Unsent,
  files: readonly SentFile[],
): Promise<void> {
  for (const { id } of files) {
    const wakesAgents = text === '' && id === files.at(-1)?.id
    upsertRows(chat_id, [await postFile(id, wakesAgents ? wake : 'nobody', (wakesAgents && reply_to) || undefined)])
  }
}

/**
 * Returns the delay before an automatic retry, in ms; null for none. A short interruption causes no event that would
 * send again.
 */
function getRetryDelay(chatId: string, failed: ErrorCode, seconds: number | null): number | null {
  if (seconds) return seconds * 1_000
  if (failed !== 'unreachable') return null
  const count = attempts.get(chatId) ?? 0
  attempts.set(chatId, count + 1)
  return 2_000 + backoff(count)
}

/** Makes the messages after a waiting one wait, too, until the same time. They get its `failed` as the reason. */
function delayFollowing({ chat_id, failed, retryAt }: Unsent): void {
  for (const entry of selectChat(chat_id)(outbox.get()))
    if (entry.failed === null) replace({ ...entry, failed, ...(retryAt === undefined ? {} : { retryAt }) })
}

function confirm(chatId: string, row: MessageRow): void {
  upsertRows(chatId, [row])
  remove(row.id)
}
