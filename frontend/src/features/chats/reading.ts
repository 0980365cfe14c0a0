/** What is new to the reader of a chat, and how far they have read: only what was on the screen counts. */
import { useCallback, useEffect, useState } from 'react'
import { type ChatSummaryRow, type MessagePage, type MessageRow, readNewer } from '@/api'
import { useLatest } from '@/lib/latest'
import { authorOf } from './timeline'

/** By chat: how far this page has read. The list of chats may be older. */
const readHere = new Map<string, number>()

/** A text message of somebody else: what counts as unread. */
export const isNews = (row: MessageRow, me: string) =>
  (row.type === 'TEXT_MESSAGE' || row.type === 'COMPARISON') && authorOf(row) !== me && !row.deleted

interface News {
  /** What others wrote after this `seq` is new; null: nothing is. */
  after: number | null
  /** How much that was when the chat was opened. */
  count: number
}

/** What is new when a chat is opened. For a member who was added, everything after that is new; for one who joined by themselves, nothing. */
export function newsOf(
  summary: Pick<ChatSummaryRow, 'last_read_seq' | 'unread'>,
  messages: readonly MessageRow[],
  me: string,
  read = 0,
): News {
  const seq = Math.max(summary.last_read_seq, read)
  if (summary.unread === 0) return { after: null, count: 0 }
  if (seq > 0) return { after: seq, count: summary.unread }
  const added = messages.findLast(row => wasAdded(row, me))
  return { after: added?.seq ?? null, count: summary.unread }
}

const wasAdded = (row: MessageRow, me: string) =>
  row.type === 'MEMBER_JOINED' && row.payload.target_id === me && row.payload.actor_id !== me

interface Reading {
  chatId: string
  summary: ChatSummaryRow | undefined
  messages: readonly MessageRow[]
  /** Where the part of the log that is on the screen begins. */
  from: number
  hasOlder: boolean
  me: string
  onRead(seq: number): void
}

export function useReading({ chatId, summary, messages, from, hasOlder, me, onRead }: Reading) {
  const [news, setNews] = useState<News | null>(null)
  const [hasSeenNews, setSeenNews] = useState(false)
  if (news === null && summary) setNews(newsOf(summary, messages, me, readHere.get(chatId)))
  const after = news?.after ?? null
  const isFarther = after !== null && hasOlder && from > after + 1
  const page = useFirstPage(chatId, isFarther && !hasSeenNews ? after : null)
  const hasGap = isFarther && !reaches(page, from)
  const first = hasGap ? undefined : newsIn(messages, after, me)[0]
  const isCaughtUp = news !== null && (hasSeenNews || !(hasGap || first))
  const since = first ?? newsIn(page?.results, after, me)[0]

  /** Everything up to this line has been on the screen, and so was the first that is new. */
  const onSeen = useCallback(
    (seq: number) => {
      if (!isCaughtUp || seq <= (readHere.get(chatId) ?? 0)) return
      readHere.set(chatId, seq)
      onRead(seq)
    },
    [chatId, isCaughtUp, onRead],
  )
  const seeNews = useCallback(() => setSeenNews(true), [])
  const leave = () => {
    setNews({ after: messages.at(-1)?.seq ?? 0, count: 0 })
    setSeenNews(false)
  }
  // What comes while the page is out of sight is new when the reader is back.
  useAway(() => isCaughtUp && leave())
  return {
    /** For the line above what is new: it stands only where the first of it is. */
    newsAfter: hasGap ? null : after,
    isCaughtUp,
    hasGap,
    page,
    since: since?.created_at ?? null,
    count: news?.count || newsIn(messages, after, me).length,
    onSeen,
    seeNews,
  }
}

const newsIn = (messages: readonly MessageRow[] | undefined, after: number | null, me: string) =>
  after === null || !messages ? [] : messages.filter(row => row.seq > after && isNews(row, me))

/** Whether the log on the screen begins no later than this page. */
const reaches = (page: MessagePage | null, from: number) => page !== null && from <= (page.results[0]?.seq ?? 0)

/** The first page of what is new, when it is farther back than the log on the screen. */
function useFirstPage(chatId: string, after: number | null): MessagePage | null {
  const [page, setPage] = useState<MessagePage | null>(null)
  useEffect(() => {
    if (after === null) return
    let isCurrent = true
    readNewer(chatId, after).then(
      found => isCurrent && setPage(found),
      () => undefined,
    )
    return () => {
      isCurrent = false
    }
  }, [chatId, after])
  return page
}

/** Whenever the page goes out of sight. */
function useAway(onLeave: () => void): void {
  const latest = useLatest(onLeave)
  useEffect(() => {
    const onChange = () => {
      if (document.visibilityState === 'hidden') latest.current()
    }
    document.addEventListener('visibilitychange', onChange)
    return () => document.removeEventListener('visibilitychange', onChange)
  }, [])
}
