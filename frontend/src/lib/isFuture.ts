import { useEffect, useState } from 'react'
import { isFuture } from './time'

/** Browsers run timers with a longer delay at once. */
const MAX_DELAY_MS = 2 ** 31 - 1

/** Returns whether a time is in the future, and renders again when it is reached. */
export function useIsFuture(at: string | null | undefined): boolean {
  const [, setPassed] = useState<string | null>(null)
  useEffect(() => {
    if (!at || !isFuture(at)) return
    const delay = Date.parse(at) - Date.now() + 50 // timers may fire a little early
    if (delay > MAX_DELAY_MS) return
    const timer = setTimeout(() => setPassed(at), delay)
    return () => clearTimeout(timer)
  }, [at])
  return isFuture(at)
}
