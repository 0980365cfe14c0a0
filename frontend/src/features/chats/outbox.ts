/** What this person has said and the server has not confirmed yet. The message's id makes sending again harmless. */
import { ApiError, type ErrorCode, type MessageRow, type NewMessage, postMessage } from '@/api'
import { waitOf } from '@/lib/errors'
import { observable, usePart } from '@/lib/observable'
import { keep, kept } from '@/lib/stored'
import { backoff, connection, learn } from '@/realtime'

export interface Unsent extends NewMessage {
  chat_id: string
  created_at: string
  /** Null while it is on its way. */
  failed: ErrorCode | null
}

const STORED = 'atelier.unsent'

/** A reload interrupts what was on its way: whether it arrived is not known, so it is offered (and sent) again. */
const atStart = () =>
  kept<Unsent[]>(STORED, []).map(entry => ({ ...entry, failed: entry.failed ?? ('unreachable' as const) }))

const outbox = observable<readonly Unsent[]>(typeof localStorage === 'undefined' ? [] : atStart())
if (typeof localStorage !== 'undefined') outbox.subscribe(() => keep(STORED, outbox.get().length ? outbox.get() : null))

const inChat = (chatId: string) => (all: readonly Unsent[]) => all.filter(entry => entry.chat_id === chatId)
const sameEntries = (a: readonly Unsent[], b: readonly Unsent[]) =>
  a.length === b.length && a.every((entry, index) => entry === b[index])

export const useUnsent = (chatId: string) => usePart(outbox, inChat(chatId), sameEntries)

const without = (id: string) => outbox.get().filter(entry => entry.id !== id)
const replace = (entry: Unsent) => outbox.set(outbox.get().map(each => (each.id === entry.id ? entry : each)))

/** Says something; it is on the screen at once, and marked as on its way. */
export function send(chatId: string, message: NewMessage): Promise<void> {
  const entry: Unsent = { ...message, chat_id: chatId, created_at: new Date().toISOString(), failed: null }
  outbox.set([...outbox.get(), entry])
  return deliver(entry)
}

export function sendAgain(id: string): Promise<void> {
  const entry = outbox.get().find(each => each.id === id)
  if (!entry?.failed) return Promise.resolve()
  const fresh = { ...entry, failed: null }
  replace(fresh)
  return deliver(fresh)
}

const tries = new Map<string, number>()

/** A line that only faltered says nothing when it is back: what had no answer is tried again by itself. */
function tryLater(id: string): void {
  const count = tries.get(id) ?? 0
  tries.set(id, count + 1)
  setTimeout(() => void sendAgain(id), 2_000 + backoff(count))
}

export function forget(id: string): void {
  outbox.set(without(id))
}

async function deliver(entry: Unsent): Promise<void> {
  const { chat_id, created_at: _, failed: __, ...message } = entry
  try {
    arrived(chat_id, await postMessage(chat_id, message))
    tries.delete(entry.id)
  } catch (error) {
    const failed = error instanceof ApiError ? error.code : 'refused'
    replace({ ...entry, failed })
    const wait = waitOf(error)
    if (wait) setTimeout(() => void sendAgain(entry.id), wait * 1_000)
    if (failed === 'unreachable') tryLater(entry.id)
  }
}

function arrived(chatId: string, row: MessageRow): void {
  learn(chatId, [row])
  outbox.set(without(row.id))
}

function sendWaiting(): void {
  for (const entry of outbox.get()) if (entry.failed === 'unreachable') void sendAgain(entry.id)
}

connection.subscribe(() => {
  if (connection.get().state === 'open') sendWaiting()
})
if (typeof window !== 'undefined') window.addEventListener('online', sendWaiting)
