import { useCallback, useRef, useState } from 'react'

interface AsyncAction {
  /** The action runs, or it is done and the screen is about to change. */
  busy: boolean
  error: unknown
  run(action: () => Promise<void>): Promise<void>
}

/** An action that leads to another screen, e.g. making a workspace. It runs once however often it is asked for, and again only after it failed. */
export function useAsyncAction(): AsyncAction {
  const running = useRef(false)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const run = useCallback(async (action: () => Promise<void>) => {
    if (running.current) return
    running.current = true
    setBusy(true)
    setError(null)
    try {
      await action()
    } catch (problem) {
      running.current = false
      setError(problem)
      setBusy(false)
    }
  }, [])
  return { busy, error, run }
}
