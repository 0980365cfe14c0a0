/** Staying at the end of the log while it grows, and knowing what came while the reader was elsewhere. */
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'

/** How near to the end (px) still counts as being there. */
const NEAR = 48

interface StickToEnd {
  scroller: RefObject<HTMLElement | null>
  /** The newest line's place in the log. */
  lastSeq: number
  /** Everything up to this line has been on the screen. */
  onRead(seq: number): void
}

export function useStickToEnd({ scroller, lastSeq, onRead }: StickToEnd) {
  const isStuck = useRef(true)
  const [seenSeq, setSeenSeq] = useState(lastSeq)

  const seen = useCallback(() => {
    if (!isStuck.current || document.visibilityState !== 'visible') return
    setSeenSeq(lastSeq)
    onRead(lastSeq)
  }, [lastSeq, onRead])

  const toEnd = useCallback(() => {
    isStuck.current = true
    const log = scroller.current
    if (log) log.scrollTop = log.scrollHeight
    seen()
  }, [scroller, seen])

  const onScroll = useCallback(() => {
    const log = scroller.current
    if (!log) return
    isStuck.current = log.scrollHeight - log.scrollTop - log.clientHeight < NEAR
    seen()
  }, [scroller, seen])

  useLayoutEffect(() => {
    const log = scroller.current
    if (!log) return
    const follow = () => {
      if (isStuck.current) log.scrollTop = log.scrollHeight
    }
    follow()
    const observer = new ResizeObserver(follow)
    observer.observe(log)
    for (const child of log.children) observer.observe(child)
    return () => observer.disconnect()
  }, [scroller])

  useEffect(() => {
    seen()
    document.addEventListener('visibilitychange', seen)
    return () => document.removeEventListener('visibilitychange', seen)
  }, [seen])

  return { unseen: isStuck.current ? 0 : Math.max(0, lastSeq - seenSeq), toEnd, onScroll }
}
