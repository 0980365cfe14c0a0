/** Sends this person's read cursor to the server: over the socket every few seconds, and when the chat or the page is closed. */
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { keys, type ListedChatRow, markRead } from '@/api'
import { isViewing } from '@/lib/viewing'
import { chatState, sendRead } from '@/realtime'
import { isUnread } from './reading'

/** The least time between two sends of the cursor, in ms. */
export const INTERVAL_MS = 2_000

interface Cursor {
  /** Everything up to this message has been visible. */
  moveTo(seq: number): void
  /** Saves the cursor if it has not been sent, and returns it. */
  leave(): number
  /** Saves the cursor before the page closes, even if it was sent: the server writes a sent one only half a second later. */
  close(): void
}

/** Creates a read cursor. `send` returns whether it has sent the cursor. If it has not, and on leaving, `save` is called. */
export function createReadCursor(
  readSeq: number,
  send: (seq: number) => boolean,
  save: (seq: number) => Promise<unknown>,
): Cursor {
  let sent = readSeq
  let reached = readSeq
  let timer: ReturnType<typeof setTimeout> | undefined
  let hasLeft = false
  const saveReached = (seq: number) =>
    void save(seq).catch(() => {
      sent = Math.min(sent, seq - 1) // so that this `seq` is sent again
      if (!hasLeft) timer ??= setTimeout(sendReached, INTERVAL_MS)
    })
  const sendReached = () => {
    timer = undefined
    if (reached <= sent) return
    sent = reached
    if (!send(sent)) saveReached(sent)
    timer = setTimeout(sendReached, INTERVAL_MS)
  }
  return {
    moveTo(seq) {
      hasLeft = false
      reached = Math.max(reached, seq)
      if (reached > sent && timer === undefined) sendReached()
    },
    leave() {
      hasLeft = true
      clearTimeout(timer)
      timer = undefined
      if (reached > sent) {
        sent = reached
        saveReached(sent)
      }
      return reached
    },
    close() {
      if (reached > readSeq) saveReached(reached)
    },
  }
}

/** Moves this person's read cursor while the chat is open. On leaving, the unread count in the list of chats is updated. */
export function useReadCursor(chatId: string, workspaceId: string, me: string, readSeq: number): (seq: number) => void {
  const client = useQueryClient()
  // biome-ignore lint/correctness/useExhaustiveDependencies: only the initial `readSeq` is used
  const cursor = useMemo(
    () =>
      createReadCursor(
        readSeq,
        seq => sendRead(chatId, seq),
        seq => markRead(chatId, seq),
      ),
    [chatId],
  )
  useEffect(() => {
    // A page that is closed or reloaded does not unmount.
    window.addEventListener('pagehide', cursor.close)
    return () => window.removeEventListener('pagehide', cursor.close)
  }, [cursor])
  useEffect(
    () => () => {
      if (isViewing()) return
      const unread = countUnread(cursor.leave(), chatId, me)
      client.setQueryData<ListedChatRow[]>(keys.chats(workspaceId), chats =>
        chats?.map(row => (row.chat.id === chatId ? { ...row, unread } : row)),
      )
    },
    [cursor, client, chatId, workspaceId, me],
  )
  return isViewing() ? ignore : cursor.moveTo
}

const ignore = () => undefined

function countUnread(seq: number, chatId: string, me: string): number {
  let count = 0
  for (const row of chatState(chatId).rows.message.values()) if (row.seq > seq && isUnread(row, me)) count += 1
  return count
}
