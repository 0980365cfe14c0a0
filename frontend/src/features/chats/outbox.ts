/**
 * Messages of this person that the server has not confirmed yet. The message's id makes sending again harmless. The tabs of a
 * browser share it: each message is kept by itself, and one tab at a time sends those of a chat, in the order of their times.
 */
import { useMemo } from 'react'
import { ApiError, type ErrorCode, type MessageRow, type NewMessage, postMessage } from '@/api'
import { retryAfter } from '@/lib/errors'
import { runExclusively } from '@/lib/exclusively'
import { observable, useSelector } from '@/lib/observable'
import { sameItems } from '@/lib/sameItems'
import { canStore, listStored, onStoredElsewhere, readStored, writeStored } from '@/lib/storage'
import { backoff, connection, upsertRows } from '@/realtime'

export interface Unsent extends NewMessage {
  chat_id: string
  created_at: string
  /** Null while it is on its way. */
  failed: ErrorCode | null
  /** When it is sent again by itself (ms). Without it, what failed waits for its author. */
  again?: number
}

const KEY_PREFIX = 'atelier.unsent.'
/** One list of everything, as it was kept before. */
const LEGACY_KEY = 'atelier.unsent'
/** How long a tab may take for what it is to send before another one does (ms). */
const TAKE_OVER_MS = 5_000
/** How long the storage event of another tab may take (ms). */
const SYNC_WAIT_MS = 2_000

const outbox = observable<readonly Unsent[]>([])

const isWaiting = (entry: Unsent) => entry.failed !== null && entry.again !== undefined
const isPending = (entry: Unsent) => entry.failed === null || isWaiting(entry)

const byTime = (a: Unsent, b: Unsent) =>
  a.created_at < b.created_at || (a.created_at === b.created_at && a.id < b.id) ? -1 : 1

/** What failed for want of a session, or of a line that this page is about to find, goes out now. */
const afterReload = (entry: Unsent): Unsent =>
  entry.failed === 'not_signed_in' || entry.failed === 'unreachable' ? fresh(entry) : entry

/** Load the unsent messages of this page's person. Before that nothing is sent or stored. */
export function startOutbox(): void {
  for (const entry of readStored<Unsent[]>(LEGACY_KEY, [])) writeStored(KEY_PREFIX + entry.id, entry)
  writeStored(LEGACY_KEY, null)
  outbox.set([...listStored<Unsent>(KEY_PREFIX).values()].map(afterReload).sort(byTime))
  onStoredElsewhere<Unsent>(KEY_PREFIX, changedElsewhere)
  connection.subscribe(() => {
    if (connection.get().state === 'open') sendWaiting()
  })
  window.addEventListener('online', () => sendWaiting())
  sendWaiting()
}

const inChat = (chatId: string) => (all: readonly Unsent[]) => all.filter(entry => entry.chat_id === chatId)

export function useUnsent(chatId: string): readonly Unsent[] {
  const part = useMemo(() => inChat(chatId), [chatId])
  return useSelector(outbox, part, sameItems)
}

const find = (id: string) => outbox.get().find(entry => entry.id === id)

function remove(id: string): void {
  outbox.set(outbox.get().filter(entry => entry.id !== id))
  writeStored(KEY_PREFIX + id, null)
}

/** Changes an entry that is still there. */
function replace(entry: Unsent): void {
  if (!find(entry.id)) return
  outbox.set(outbox.get().map(each => (each.id === entry.id ? entry : each)))
  writeStored(KEY_PREFIX + entry.id, entry)
}

/** Says something; it is on the screen at once, and marked as on its way. */
export function send(chatId: string, message: NewMessage): Promise<void> {
  const entry: Unsent = { ...message, chat_id: chatId, created_at: new Date().toISOString(), failed: null }
  outbox.set([...outbox.get(), entry])
  writeStored(KEY_PREFIX + entry.id, entry)
  return deliver(chatId)
}

/** Sends a message that failed once more, and with it what waits in the same chat: messages arrive in the order in which they were written. */
export async function sendAgain(id: string): Promise<void> {
  const entry = find(id)
  if (!entry?.failed) return
  replace(fresh(entry))
  await resume(entry.chat_id)
}

export function forget(id: string): void {
  const entry = find(id)
  remove(id)
  if (entry) void resume(entry.chat_id)
}

const fresh = ({ again: _, ...entry }: Unsent): Unsent => ({ ...entry, failed: null })

/** Sends again what waits in a chat. */
async function resume(chatId: string): Promise<void> {
  clearTimeout(timers.get(chatId))
  for (const entry of inChat(chatId)(outbox.get())) if (isWaiting(entry)) replace(fresh(entry))
  await deliver(chatId)
}

/** Sends again what waits, everywhere. */
function sendWaiting(): void {
  for (const chatId of new Set(
    outbox
      .get()
      .filter(isPending)
      .map(entry => entry.chat_id),
  ))
    void resume(chatId)
}

const timers = new Map<string, ReturnType<typeof setTimeout>>()
const tries = new Map<string, number>()

function resumeLater(chatId: string, ms: number): void {
  clearTimeout(timers.get(chatId))
  timers.set(
    chatId,
    setTimeout(() => void resume(chatId), ms),
  )
}

/** Another tab added, sent or removed a message. It sends its own; a tab that is closed meanwhile leaves that to the others. */
function changedElsewhere(id: string, entry: Unsent | null): void {
  const others = outbox.get().filter(each => each.id !== id)
  outbox.set(entry ? [...others, entry].sort(byTime) : others)
  if (entry && isPending(entry)) resumeLater(entry.chat_id, Math.max(0, (entry.again ?? 0) - Date.now()) + TAKE_OVER_MS)
}

const deliver = (chatId: string) => runExclusively(`${KEY_PREFIX}${chatId}`, () => sendAll(chatId))

/** Sends what is on its way in a chat, one after the other, up to one that has to wait. */
async function sendAll(chatId: string): Promise<void> {
  for (;;) {
    const entry = inChat(chatId)(outbox.get()).find(isPending)
    if (!entry) return
    if (isWaiting(entry)) return waitWith(entry)
    if (isGone(entry) && (await isSentElsewhere(entry))) continue
    await sendOne(entry)
  }
}

/** Whether this browser keeps things, and no longer this one: another tab has sent it, or somebody has cleared the browser's data. */
const isGone = ({ id }: Unsent) => canStore() && readStored<Unsent | null>(KEY_PREFIX + id, null) === null

/**
 * Whether another tab has sent it while this one waited for its turn: its storage event then comes soon. If it does not, the message
 * is sent: sending twice is harmless, losing it is not.
 */
async function isSentElsewhere({ id }: Unsent): Promise<boolean> {
  for (let waited = 0; waited < SYNC_WAIT_MS && find(id); waited += 50)
    await new Promise(resolve => setTimeout(resolve, 50))
  return !find(id)
}

async function sendOne(entry: Unsent): Promise<void> {
  const { chat_id, created_at: _, failed: __, again: ___, ...message } = entry
  try {
    arrived(chat_id, await postMessage(chat_id, message))
    tries.delete(chat_id)
  } catch (error) {
    const failed = error instanceof ApiError ? error.code : 'refused'
    const pause = pauseAfter(chat_id, failed, retryAfter(error))
    if (pause === null) return replace({ ...entry, failed })
    replace({ ...entry, failed, again: Date.now() + pause })
    resumeLater(chat_id, pause)
  }
}

/** How long to wait (ms) before it is sent again: a line that only faltered says nothing when it is back. Null: not by itself. */
function pauseAfter(chatId: string, failed: ErrorCode, seconds: number | null): number | null {
  if (seconds) return seconds * 1_000
  if (failed !== 'unreachable') return null
  const count = tries.get(chatId) ?? 0
  tries.set(chatId, count + 1)
  return 2_000 + backoff(count)
}

/** Messages after one that waits wait, too. */
function waitWith({ chat_id, failed, again }: Unsent): void {
  for (const entry of inChat(chat_id)(outbox.get()))
    if (entry.failed === null) replace({ ...entry, failed, ...(again === undefined ? {} : { again }) })
}

function arrived(chatId: string, row: MessageRow): void {
  upsertRows(chatId, [row])
  remove(row.id)
}
