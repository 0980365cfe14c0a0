/** The progress of a merge from the socket, and the current time. */
import { useEffect, useState } from 'react'
import { onFrame } from '@/realtime'
import type { Written } from './mergeSteps'

/** How much of a merge is written; null until the socket says. */
export function useWritten(mergeId: string): Written | null {
  const [written, setWritten] = useState<Written | null>(null)
  useEffect(() => {
    setWritten(null)
    return onFrame(frame => {
      if (frame.type === 'progress' && frame.merge_id === mergeId)
        setWritten({ done: frame.done, expected: frame.expected })
    })
  }, [mergeId])
  return written
}

/** The current time, updated every second while something runs, every 30 s otherwise. */
export function useNow(isRunning: boolean): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), isRunning ? 1_000 : 30_000)
    return () => clearInterval(timer)
  }, [isRunning])
  return now
}
