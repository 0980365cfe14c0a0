/** Pages on both sides of what is on the screen, read when the reader comes near an edge. */
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef } from 'react'
import type { LogPart } from './logPart'

/** How near to an edge (px) the next page is asked for. */
const NEAR = 2_000

export function usePaging(part: LogPart, firstKey: string, scroller: RefObject<HTMLElement | null>) {
  const { from, range, hasOlder, loadOlder, loadNewer } = part
  const loading = useRef(false)
  const last = useRef({ from, firstKey })
  // The list grew at its start in this very render: then, and only then, its place is kept from the end.
  const isShifting = from < last.current.from && firstKey !== last.current.firstKey

  useLayoutEffect(() => {
    last.current = { from, firstKey }
  }, [from, firstKey])

  const loadIfNear = useCallback(async () => {
    const log = scroller.current
    if (!log || loading.current) return
    const load =
      log.scrollTop < NEAR && hasOlder
        ? loadOlder
        : range && log.scrollHeight - log.scrollTop - log.clientHeight < NEAR
          ? loadNewer
          : null
    if (!load) return
    loading.current = true
    try {
      await load()
    } catch {
      // The next scroll asks again; the connection's banner says why.
    } finally {
      loading.current = false
    }
  }, [scroller, hasOlder, range, loadOlder, loadNewer])
  // A flick may have reached the edge while the page was on its way: then nobody scrolls any more, and the next is due.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is looked at again after each page
  useEffect(() => void loadIfNear(), [from, range?.to, loadIfNear])
  return { isShifting, loadIfNear }
}
