/** The progress of a merge from the socket, and the current time. */
import { useEffect, useState } from 'react'
import { onFrame } from '@/realtime'
import type { WrittenChars } from './mergeSteps'

/** Returns how much of a merge is written; null until a `progress` frame arrives. */
export function useWrittenChars(mergeId: string): WrittenChars | null {
  const [written, setWritten] = useState<WrittenChars | null>(null)
  useEffect(() => {
    setWritten(null)
    return onFrame(frame => {
      if (frame.type === 'progress' && frame.merge_id === mergeId)
        setWritten({ done: frame.done, expected: frame.expected })
    })
  }, [mergeId])
  return written
}

/** Returns the current time, updated every second while something is running, otherwise every 30 s. */
export function useNow(isRunning: boolean): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), isRunning ? 1_000 : 30_000)
    return () => clearInterval(timer)
  }, [isRunning])
  return now
}
