/** The loaded part of the log: the newest messages, or a range of older ones. */
import { useCallback, useEffect, useState } from 'react'
import { type MessagePage, type MessageRow, readNewerMessages, readOlderMessages } from '@/api'
import { useLatest } from '@/lib/latest'
import { type ChatState, chatState, indexOfSeq, prependOlderMessages, upsertRows, useChatSelector } from '@/realtime'

interface Range {
  from: number
  to: number
  hasOlder: boolean
}

export interface LogPart {
  /** Null for the newest part, to which new messages are added. */
  range: Range | null
  /** The first `seq` of this part. */
  from: number
  hasOlder: boolean
  /** Changes when another part of the log is opened. */
  generation: number
  /** Shows a page of messages, joined to the newest part if it reaches that far. */
  open(page: MessagePage): void
  toNewest(): void
  loadOlder(): Promise<void>
  loadNewer(): Promise<void>
}

const selectHasOlder = (chat: ChatState) => chat.hasOlder
const selectFirstLoadedSeq = (chat: ChatState) => chat.firstLoadedSeq

const listRows = (chatId: string, from: number, to: number): MessageRow[] =>
  chatState(chatId).log.filter(row => row.seq >= from && row.seq <= to)

/** Returns whether no messages are missing between a page and the newest part. */
const reachesNewest = (chatId: string, page: MessagePage) =>
  page.after === null || (page.results.at(-1)?.seq ?? 0) >= chatState(chatId).firstLoadedSeq

export function useLogPart(chatId: string): LogPart {
  const hasOlder = useChatSelector(chatId, selectHasOlder)
  const firstLoadedSeq = useChatSelector(chatId, selectFirstLoadedSeq)
  const [range, setRange] = useState<Range | null>(null)
  const [generation, setGeneration] = useState(0)
  const startGeneration = useCallback(() => setGeneration(before => before + 1), [])

  const toNewest = useCallback(() => {
    setRange(null)
    startGeneration()
  }, [startGeneration])

  const open = useCallback(
    (page: MessagePage) => {
      const [first] = page.results
      const last = page.results.at(-1)
      if (!first || !last) return
      upsertRows(chatId, page.other_answers)
      if (reachesNewest(chatId, page)) {
        prependOlderMessages(chatId, page.results, page.before !== null)
        setRange(null)
        return
      }
      upsertRows(chatId, page.results)
      setRange({ from: first.seq, to: last.seq, hasOlder: page.before !== null })
      startGeneration()
    },
    [chatId, startGeneration],
  )

  // A page that comes after another part was opened, or after a reconnection has replaced the newest part, is left out.
  const latestRange = useLatest(range)

  const loadOlder = useCallback(async () => {
    const { hasOlder, firstLoadedSeq } = chatState(chatId)
    if (!(range ? range.hasOlder : hasOlder)) return
    const page = await readOlderMessages(chatId, range?.from ?? firstLoadedSeq)
    if (latestRange.current !== range || (!range && chatState(chatId).firstLoadedSeq !== firstLoadedSeq)) return
    if (!range) return prependOlderMessages(chatId, page.results, page.before !== null)
    upsertRows(chatId, [...page.results, ...page.other_answers])
    setRange({ ...range, from: page.results[0]?.seq ?? range.from, hasOlder: page.before !== null })
  }, [chatId, range])

  const loadNewer = useCallback(async () => {
    if (!range) return
    const page = await readNewerMessages(chatId, range.to)
    if (latestRange.current !== range) return
    upsertRows(chatId, [...page.results, ...page.other_answers])
    const to = page.results.at(-1)?.seq ?? range.to
    if (!reachesNewest(chatId, page)) return setRange({ ...range, to })
    prependOlderMessages(chatId, listRows(chatId, range.from, to), range.hasOlder)
    setRange(null)
  }, [chatId, range])

  // After a long disconnection the log is replaced by its newest messages, so an older range may be gone.
  const isGone = useChatSelector(
    chatId,
    useCallback(
      (chat: ChatState) => range !== null && chat.log[indexOfSeq(chat.log, range.to)]?.seq !== range.to,
      [range],
    ),
  )
  useEffect(() => {
    if (isGone) toNewest()
  }, [isGone, toNewest])

  return {
    range,
    from: range?.from ?? firstLoadedSeq,
    hasOlder: range ? range.hasOlder : hasOlder,
    generation,
    open,
    toNewest,
    loadOlder,
    loadNewer,
  }
}
