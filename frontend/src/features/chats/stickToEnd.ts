/** Staying at the end of the log while it grows. */
import { type RefObject, useCallback, useLayoutEffect, useRef, useState } from 'react'

/** How near to the end (px) still counts as being there. */
const NEAR = 48

const isNear = (log: HTMLElement) => log.scrollHeight - log.scrollTop - log.clientHeight < NEAR

/** `canStick`: the end of what is drawn is the end of the log. */
export function useStickToEnd(scroller: RefObject<HTMLElement | null>, canStick: boolean) {
  const isStuck = useRef(canStick)
  const moved = useRef(false)
  const [isAtEnd, setAtEnd] = useState(canStick)

  const follow = useCallback(() => {
    const log = scroller.current
    if (log && isStuck.current) log.scrollTop = log.scrollHeight
  }, [scroller])

  const toEnd = useCallback(() => {
    isStuck.current = true
    moved.current = false
    setAtEnd(true)
    follow()
  }, [follow])

  /** The log is about to be moved on purpose. Text that flows anew moves it, too, and must not stop following the end. */
  const onMove = useCallback(() => {
    moved.current = true
  }, [])

  /** The log is about to be led elsewhere: it does not follow its end meanwhile. */
  const letGo = useCallback(() => {
    moved.current = true
    isStuck.current = false
  }, [])

  const onScroll = useCallback(() => {
    const log = scroller.current
    if (!log) return
    const near = canStick && isNear(log)
    if (near) moved.current = false
    if (near || moved.current) isStuck.current = near
    else follow()
    setAtEnd(isStuck.current)
  }, [scroller, follow, canStick])

  useFollowing(scroller, follow)
  return { isAtEnd, toEnd, onScroll, onMove, letGo }
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
