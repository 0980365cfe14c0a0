/** Loads older and newer pages when the reader comes near an edge of the loaded part. */
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef } from 'react'
import type { LogPart } from './logPart'

/** Distance from an edge at which the next page is requested, in px. */
const LOAD_DISTANCE_PX = 2_000

export function usePaging(part: LogPart, firstKey: string, scroller: RefObject<HTMLElement | null>) {
  const { from, range, hasOlder, loadOlder, loadNewer } = part
  const isLoading = useRef(false)
  const last = useRef({ from, firstKey })
  // True only in the render in which the list grew at its start: then its distance from the end of the log is kept.
  const isShifting = from < last.current.from && firstKey !== last.current.firstKey

  useLayoutEffect(() => {
    last.current = { from, firstKey }
  }, [from, firstKey])

  const loadIfNear = useCallback(async () => {
    const log = scroller.current
    if (!log || isLoading.current) return
    const load =
      log.scrollTop < LOAD_DISTANCE_PX && hasOlder
        ? loadOlder
        : range && log.scrollHeight - log.scrollTop - log.clientHeight < LOAD_DISTANCE_PX
          ? loadNewer
          : null
    if (!load) return
    isLoading.current = true
    try {
      await load()
    } catch {
      // The next scroll requests it again; the connection banner shows the reason.
    } finally {
      isLoading.current = false
    }
  }, [scroller, hasOlder, range, loadOlder, loadNewer])
  // A fast scroll may have reached the edge while the page was loading. No scroll event follows then, so check again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: checked again after each page
  useEffect(() => void loadIfNear(), [from, range?.to, loadIfNear])
  return { isShifting, loadIfNear }
}
