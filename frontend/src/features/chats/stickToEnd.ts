/** Keeps the log scrolled to its end while it grows. */
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { useLatest } from '@/lib/latest'

/** Distance from the end that still counts as being at the end, in px. */
const TOLERANCE_PX = 48

/** How long the virtual list may take to scroll to a message. It scrolls in steps, some of which may be near the end. */
const SCROLL_MS = 1000

const isNearEnd = (log: HTMLElement) => log.scrollHeight - log.scrollTop - log.clientHeight < TOLERANCE_PX

/** `canStick`: whether the loaded part includes the end of the log. */
export function useStickToEnd(scroller: RefObject<HTMLElement | null>, canStick: boolean) {
  const isStuck = useRef(canStick)
  const hasUserMoved = useRef(false)
  const scrollTimer = useRef<number | null>(null)
  const [isAtEnd, setAtEnd] = useState(canStick)

  const follow = useCallback(() => {
    const log = scroller.current
    if (log && isStuck.current) log.scrollTop = log.scrollHeight
  }, [scroller])

  const stopScrollTimer = useCallback(() => {
    if (scrollTimer.current !== null) clearTimeout(scrollTimer.current)
    scrollTimer.current = null
  }, [])
  useEffect(() => stopScrollTimer, [stopScrollTimer])

  const toEnd = useCallback(() => {
    stopScrollTimer()
    isStuck.current = true
    hasUserMoved.current = false
    setAtEnd(true)
    follow()
  }, [follow, stopScrollTimer])

  /** Called when the reader is about to scroll. A reflow of the text also scrolls the log, but must not stop following the end. */
  const onMove = useCallback(() => {
    stopScrollTimer()
    hasUserMoved.current = true
  }, [stopScrollTimer])

  const onScroll = useCallback(() => {
    const log = scroller.current
    if (!log) return
    const isNear = canStick && isNearEnd(log)
    if (scrollTimer.current !== null) return setAtEnd(isNear)
    if (isNear) hasUserMoved.current = false
    if (isNear || hasUserMoved.current) isStuck.current = isNear
    else follow()
    setAtEnd(isStuck.current)
  }, [scroller, follow, canStick])
  const latestOnScroll = useLatest(onScroll)

  /** Stops following the end, before the log is scrolled elsewhere. */
  const stopSticking = useCallback(() => {
    stopScrollTimer()
    hasUserMoved.current = true
    isStuck.current = false
    scrollTimer.current = window.setTimeout(() => {
      scrollTimer.current = null
      latestOnScroll.current()
    }, SCROLL_MS)
  }, [stopScrollTimer])

  useResizeFollowing(scroller, follow)
  return { isAtEnd: isAtEnd && canStick, toEnd, onScroll, onMove, stopSticking }
}

/** Calls `follow` whenever the log or its content changes its size. */
function useResizeFollowing(scroller: RefObject<HTMLElement | null>, follow: () => void): void {
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
