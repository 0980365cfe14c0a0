/** Telling the server how far somebody has read: over the socket, every few seconds, and when they leave. */
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { type ChatSummaryRow, keys, markRead } from '@/api'
import { chatState, sendRead } from '@/realtime'
import { isNews } from './reading'

/** At most one cursor is sent in so many milliseconds. */
export const EVERY_MS = 2_000

interface Cursor {
  /** Everything up to this line has been on the screen. */
  moveTo(seq: number): void
  /** Sends what has not been sent, and returns how far has been read. */
  leave(): number
}

/** `send` returns whether it was sent; otherwise, and at the end, `save` is asked. */
export function readCursor(
  readSeq: number,
  send: (seq: number) => boolean,
  save: (seq: number) => Promise<unknown>,
): Cursor {
  let sent = readSeq
  let reached = readSeq
  let timer: ReturnType<typeof setTimeout> | undefined
  const saveReached = (seq: number) =>
    void save(seq).catch(() => {
      sent = Math.min(sent, seq - 1)
    })
  const sendReached = () => {
    timer = undefined
    if (reached <= sent) return
    sent = reached
    if (!send(sent)) saveReached(sent)
    timer = setTimeout(sendReached, EVERY_MS)
  }
  return {
    moveTo(seq) {
      reached = Math.max(reached, seq)
      if (reached > sent && timer === undefined) sendReached()
    },
    leave() {
      clearTimeout(timer)
      timer = undefined
      if (reached > sent) {
        sent = reached
        saveReached(sent)
      }
      return reached
    },
  }
}

/** Moves this person's read cursor while the chat is open. What they leave unread is counted in the list of chats. */
export function useReadCursor(chatId: string, workspaceId: string, me: string, readSeq: number): (seq: number) => void {
  const client = useQueryClient()
  // biome-ignore lint/correctness/useExhaustiveDependencies: where it stood when the chat was opened
  const cursor = useMemo(
    () =>
      readCursor(
        readSeq,
        seq => sendRead(chatId, seq),
        seq => markRead(chatId, seq),
      ),
    [chatId],
  )
  useEffect(
    () => () => {
      const unread = unreadAfter(cursor.leave(), chatId, me)
      client.setQueryData<ChatSummaryRow[]>(keys.chats(workspaceId), chats =>
        chats?.map(each => (each.chat.id === chatId ? { ...each, unread } : each)),
      )
    },
    [cursor, client, chatId, workspaceId, me],
  )
  return cursor.moveTo
}

function unreadAfter(seq: number, chatId: string, me: string): number {
  let count = 0
  for (const row of chatState(chatId).messages.values()) if (row.seq > seq && isNews(row, me)) count += 1
  return count
}
