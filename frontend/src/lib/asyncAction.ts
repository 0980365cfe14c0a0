import { useCallback, useRef, useState } from 'react'

interface AsyncAction {
  /** True while the action runs, and after it succeeded, because the screen is about to change. */
  busy: boolean
  error: unknown
  run(action: () => Promise<void>): Promise<void>
}

/** An action that leads to another screen, such as creating a workspace. It runs once, and again only after it failed. */
export function useAsyncAction(): AsyncAction {
  const isRunning = useRef(false)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const run = useCallback(async (action: () => Promise<void>) => {
    if (isRunning.current) return
    isRunning.current = true
    setBusy(true)
    setError(null)
    try {
      await action()
    } catch (problem) {
      isRunning.current = false
      setError(problem)
      setBusy(false)
    }
  }, [])
  return { busy, error, run }
}
