/** Staying at the end of the log while it grows, and knowing what came while the reader was elsewhere. */
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'

/** How near to the end (px) still counts as being there. */
const NEAR = 48

const isNear = (log: HTMLElement) => log.scrollHeight - log.scrollTop - log.clientHeight < NEAR

interface StickToEnd {
  scroller: RefObject<HTMLElement | null>
  /** The newest line's place in the log. */
  lastSeq: number
  /** Everything up to this line has been on the screen. */
  onRead(seq: number): void
}

export function useStickToEnd({ scroller, lastSeq, onRead }: StickToEnd) {
  const isStuck = useRef(true)
  const moved = useRef(false)
  const [seenSeq, setSeenSeq] = useState(lastSeq)

  const seen = useCallback(() => {
    if (!isStuck.current || document.visibilityState !== 'visible') return
    setSeenSeq(lastSeq)
    onRead(lastSeq)
  }, [lastSeq, onRead])

  const follow = useCallback(() => {
    const log = scroller.current
    if (log && isStuck.current) log.scrollTop = log.scrollHeight
  }, [scroller])

  const toEnd = useCallback(() => {
    isStuck.current = true
    moved.current = false
    follow()
    seen()
  }, [follow, seen])

  /** The log is about to be moved on purpose. Text that flows anew moves it, too, and must not let go of the end. */
  const onMove = useCallback(() => {
    moved.current = true
  }, [])

  const onScroll = useCallback(() => {
    const log = scroller.current
    if (!log) return
    const near = isNear(log)
    if (near) moved.current = false
    if (near || moved.current) isStuck.current = near
    else follow()
    seen()
  }, [scroller, follow, seen])

  useFollowing(scroller, follow)
  useEffect(() => {
    seen()
    document.addEventListener('visibilitychange', seen)
    return () => document.removeEventListener('visibilitychange', seen)
  }, [seen])

  return { unseen: isStuck.current ? 0 : Math.max(0, lastSeq - seenSeq), toEnd, onScroll, onMove }
}

/** Follows whenever the log or what is in it changes its size. */
function useFollowing(scroller: RefObject<HTMLElement | null>, follow: () => void): void {
  useLayoutEffect(() => {
    const log = scroller.current
    if (!log) return
    follow()
    const observer = new ResizeObserver(follow)
    observer.observe(log)
    for (const child of log.children) observer.observe(child)
    return () => observer.disconnect()
  }, [scroller, follow])
}
