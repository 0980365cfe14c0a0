import { useCallback, useRef, useState } from 'react'

export interface Attempt {
  /** It is being done, or it is done and the screen is about to change. */
  busy: boolean
  error: unknown
  attempt(deed: () => Promise<void>): Promise<void>
}

/** A deed that leads away from here, e.g. making a workspace: whoever asks twice gets it once. Free again when it failed. */
export function useAttempt(): Attempt {
  const running = useRef(false)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const attempt = useCallback(async (deed: () => Promise<void>) => {
    if (running.current) return
    running.current = true
    setBusy(true)
    setError(null)
    try {
      await deed()
    } catch (problem) {
      running.current = false
      setError(problem)
      setBusy(false)
    }
  }, [])
  return { busy, error, attempt }
}
