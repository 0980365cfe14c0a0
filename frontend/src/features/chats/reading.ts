/** The new messages of a chat, and how far the reader has read. Only messages that were visible count as read. */
import { useCallback, useEffect, useState } from 'react'
import { type ListedChatRow, type MessagePage, type MessageRow, readNewerMessages } from '@/api'
import { useLatest } from '@/lib/latest'
import { chatState } from '@/realtime'
import { getPlaceSeq } from './otherAnswers'
import { isOfSubAgent } from './subAgents'

/** The last `seq` read on this page, by chat. The list of chats may be older. */
const readSeqByChat = new Map<string, number>()

/**
 * Returns whether a message counts as unread, as on the server: a text or a file by another author, not deleted, not of a sub-agent
 * and not in an answer that is not in use.
 */
export const isUnread = (row: MessageRow, me: string) =>
  (row.type === 'TEXT_MESSAGE' || row.type === 'FILE_MESSAGE') &&
  row.author_id !== me &&
  !row.deleted_at &&
  !isOfSubAgent(row) &&
  !row.is_unused

interface Unread {
  /** Messages of others after this `seq` are new; null if there are none. */
  after: number | null
  /** Their number when the chat was opened. It is 0 after `startAnew`: then the loaded ones are counted. */
  count: number
}

/**
 * Finds the new messages when a chat is opened. `read` is the last `seq` that was read on this page. For a person who
 * has read nothing, the new messages are those since somebody added them; there are none if they joined by themselves.
 */
export function findUnread(
  chat: Pick<ListedChatRow, 'last_read_seq' | 'unread'>,
  messages: readonly MessageRow[],
  me: string,
  read = 0,
): Unread {
  const seq = Math.max(chat.last_read_seq, read)
  if (chat.unread === 0) return { after: null, count: 0 }
  if (seq > 0) return { after: seq, count: chat.unread }
  const added = messages.findLast(row => wasAdded(row, me))
  return { after: added?.seq ?? null, count: chat.unread }
}

const wasAdded = (row: MessageRow, me: string) =>
  row.type === 'MEMBER_JOINED' && row.payload.target_id === me && row.payload.actor_id !== me

interface Reading {
  chatId: string
  listedChat: ListedChatRow | undefined
  messages: readonly MessageRow[]
  /** The first `seq` of the loaded part of the log. */
  from: number
  hasOlder: boolean
  me: string
  onRead(seq: number): void
}

/** Follows the reader through the new messages of a chat: where they begin, whether they were visible, what is marked as read. */
export function useReading({ chatId, listedChat, messages, from, hasOlder, me, onRead }: Reading) {
  const [unread, setUnread] = useState<Unread | null>(null)
  const [hasSeenUnread, setSeenUnread] = useState(false)
  if (unread === null && listedChat) setUnread(findUnread(listedChat, messages, me, readSeqByChat.get(chatId)))
  const after = unread?.after ?? null
  const isBeforeLoadedPart = after !== null && hasOlder && from > after + 1
  const firstUnreadPage = useFirstPage(chatId, isBeforeLoadedPart && !hasSeenUnread ? after : null)
  /** Whether new messages are missing before the loaded part. */
  const hasGap = isBeforeLoadedPart && !isStartLoaded(firstUnreadPage, from)
  const firstLoadedUnread = hasGap ? undefined : listUnread(messages, after, me)[0]
  /** Whether there are no new messages, or the first one has been visible. */
  const isCaughtUp = unread !== null && (hasSeenUnread || (!hasGap && !firstLoadedUnread))
  const firstUnread = firstLoadedUnread ?? listUnread(firstUnreadPage?.results, after, me)[0]

  /** Marks messages as read up to `seq`, once the first new message has been visible. */
  const onSeen = useCallback(
    (seq: number) => {
      if (!isCaughtUp || seq <= (readSeqByChat.get(chatId) ?? 0)) return
      readSeqByChat.set(chatId, seq)
      onRead(seq)
    },
    [chatId, isCaughtUp, onRead],
  )
  const markUnreadSeen = useCallback(() => setSeenUnread(true), [])
  const startAnew = () => {
    // Not of `messages`, which may be an older part of the log.
    setUnread({ after: chatState(chatId).log.at(-1)?.seq ?? 0, count: 0 })
    setSeenUnread(false)
  }
  // Messages that arrive while the page is hidden are new when the reader returns.
  useOnHidden(() => isCaughtUp && startAnew())
  return {
    /** For the "new" divider, which is shown only if the first new message is loaded. */
    unreadAfter: hasGap ? null : after,
    isCaughtUp,
    hasGap,
    firstUnreadPage,
    since: firstUnread?.created_at ?? null,
    count: unread?.count || listUnread(messages, after, me).length,
    onSeen,
    markUnreadSeen,
  }
}

/** Lists the unread messages in places after `after`. Another answer in the place of one that was read is not among them. */
const listUnread = (messages: readonly MessageRow[] | undefined, after: number | null, me: string) =>
  after === null || !messages ? [] : messages.filter(row => getPlaceSeq(row) > after && isUnread(row, me))

/** Returns whether the loaded part of the log includes the start of a page. */
const isStartLoaded = (page: MessagePage | null, from: number) => page !== null && from <= (page.results[0]?.seq ?? 0)

/** Reads the first page of new messages if it is before the loaded part of the log. */
function useFirstPage(chatId: string, after: number | null): MessagePage | null {
  const [page, setPage] = useState<MessagePage | null>(null)
  useEffect(() => {
    if (after === null) return
    let isCurrent = true
    readNewerMessages(chatId, after).then(
      result => isCurrent && setPage(result),
      () => undefined,
    )
    return () => {
      isCurrent = false
    }
  }, [chatId, after])
  return page
}

/** Calls `onHidden` whenever the page becomes hidden. */
function useOnHidden(onHidden: () => void): void {
  const latest = useLatest(onHidden)
  useEffect(() => {
    const onChange = () => {
      if (document.visibilityState === 'hidden') latest.current()
    }
    document.addEventListener('visibilitychange', onChange)
    return () => document.removeEventListener('visibilitychange', onChange)
  }, [])
}
