import { useEffect, useState } from 'react'

/** The pause after the last key before what was typed is sent. */
const PAUSE_MS = 250

/** Returns a text once it has not changed for a while. */
export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}
