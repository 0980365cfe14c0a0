import { useEffect, useState } from 'react'
import styles from './Skeleton.module.css'

/** True once `waiting` has held for 150 ms: shorter waits show nothing at all. */
export function useDelayedFlag(waiting: boolean, ms = 150): boolean {
  const [late, setLate] = useState(false)
  useEffect(() => {
    if (!waiting) return setLate(false)
    const timer = setTimeout(() => setLate(true), ms)
    return () => clearTimeout(timer)
  }, [waiting, ms])
  return waiting && late
}

const widths = ['38%', '86%', '64%', '32%', '78%', '58%', '90%', '44%']

/** Grey lines where text is going to be. */
export function Skeleton({ lines = 3, label }: { lines?: number; label: string }) {
  const late = useDelayedFlag(true)
  return (
    <div data-slot="skeleton" className={styles.skeleton} role="status" aria-label={label}>
      {late ? widths.slice(0, lines).map(width => <i key={width} className={styles.sk} style={{ width }} />) : null}
    </div>
  )
}
