/** Keeps the log scrolled to its end while it grows. */
import { type PointerEvent, type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
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
  /** Where the log was when a button was pressed; null if none is. */
  const pressedTop = useRef<number | null>(null)
  const scrollTimer = useRef<number | null>(null)
  const [isAtEnd, setAtEnd] = useState(canStick)

  const follow = useCallback(() => {
    const log = scroller.current
    if (log && isStuck.current && pressedTop.current === null) log.scrollTop = log.scrollHeight
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

  /**
   * Called on `pointerdown`. Following pauses until the button is released: a log that scrolls in between moves the pressed
   * button away, and the browser reports no click. A press on the scrollbar or for a context menu, of which not every
   * browser reports the end, does not pause it.
   */
  const onPress = useCallback(
    (event: PointerEvent<HTMLElement>) => {
      const log = scroller.current
      if (!log || event.target === log || event.button !== 0) return onMove()
      pressedTop.current = log.scrollTop
      const released = new AbortController()
      const release = () => {
        released.abort()
        // After the click, which the browser reports after `pointerup`.
        setTimeout(() => {
          pressedTop.current = null
          follow()
        })
      }
      for (const type of ['pointerup', 'pointercancel', 'dragend', 'blur'])
        window.addEventListener(type, release, { signal: released.signal })
    },
    [scroller, follow, onMove],
  )

  const onScroll = useCallback(() => {
    const log = scroller.current
    if (!log) return
    const isNear = canStick && isNearEnd(log)
    if (pressedTop.current !== null && log.scrollTop < pressedTop.current) hasUserMoved.current = true
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
  return { isAtEnd: isAtEnd && canStick, toEnd, onScroll, onMove, onPress, stopSticking }
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
