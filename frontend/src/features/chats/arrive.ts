/** Coming to a chat for the sake of one message: the log is read back until it is there. */
import { type RefObject, useEffect, useRef } from 'react'
import type { MessageRow } from '@/api'
import type { TimelineHandle } from './components/Timeline'
import { readPage } from './older'

const PAGE = 200
/** How many pages back it is looked for; who wants to go farther scrolls. */
const FARTHEST = 10

export function useArrival(
  chatId: string,
  wanted: string | null,
  messages: readonly MessageRow[],
  timeline: RefObject<TimelineHandle | null>,
): void {
  const search = useRef({ wanted, isOver: wanted === null, pages: 0 })
  useEffect(() => {
    if (search.current.wanted !== wanted) search.current = { wanted, isOver: wanted === null, pages: 0 }
    const { current } = search
    if (current.isOver || wanted === null) return
    if (messages.some(row => row.id === wanted)) {
      current.isOver = true
      // The line is drawn in this very moment: it can be gone to in the next.
      requestAnimationFrame(() => timeline.current?.goTo(wanted))
    } else if (current.pages === FARTHEST) {
      current.isOver = true
    } else {
      current.pages += 1
      readPage(chatId, PAGE).catch(() => {
        current.isOver = true
      })
    }
  }, [chatId, wanted, messages, timeline])
}
