/** Keeps the log scrolled to its end while it grows. */
import { type RefObject, useCallback, useLayoutEffect, useRef, useState } from 'react'

/** Distance from the end that still counts as being at the end, in px. */
const TOLERANCE_PX = 48

const isNearEnd = (log: HTMLElement) => log.scrollHeight - log.scrollTop - log.clientHeight < TOLERANCE_PX

/** `canStick`: whether the loaded part includes the end of the log. */
export function useStickToEnd(scroller: RefObject<HTMLElement | null>, canStick: boolean) {
  const isStuck = useRef(canStick)
  const hasUserMoved = useRef(false)
  const [isAtEnd, setAtEnd] = useState(canStick)

  const follow = useCallback(() => {
    const log = scroller.current
    if (log && isStuck.current) log.scrollTop = log.scrollHeight
  }, [scroller])

  const toEnd = useCallback(() => {
    isStuck.current = true
    hasUserMoved.current = false
    setAtEnd(true)
    follow()
  }, [follow])

  /** Called when the reader is about to scroll. A reflow of the text also scrolls the log, but must not stop following the end. */
  const onMove = useCallback(() => {
    hasUserMoved.current = true
  }, [])

  /** Stops following the end, before the log is scrolled elsewhere. */
  const stopSticking = useCallback(() => {
    hasUserMoved.current = true
    isStuck.current = false
  }, [])

  const onScroll = useCallback(() => {
    const log = scroller.current
    if (!log) return
    const isNear = canStick && isNearEnd(log)
    if (isNear) hasUserMoved.current = false
    if (isNear || hasUserMoved.current) isStuck.current = isNear
    else follow()
    setAtEnd(isStuck.current)
  }, [scroller, follow, canStick])

  useResizeFollowing(scroller, follow)
  return { isAtEnd, toEnd, onScroll, onMove, stopSticking }
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
