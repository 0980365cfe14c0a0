import { useEffect, useState } from 'react'
import styles from './Skeleton.module.css'

/** Returns true once `isWaiting` has been true for some time, so that nothing is shown for shorter waits. */
export function useDelayedFlag(isWaiting: boolean, ms = 150): boolean {
  const [isLate, setIsLate] = useState(false)
  useEffect(() => {
    if (!isWaiting) return setIsLate(false)
    const timer = setTimeout(() => setIsLate(true), ms)
    return () => clearTimeout(timer)
  }, [isWaiting, ms])
  return isWaiting && isLate
}

const widths = ['38%', '86%', '64%', '32%', '78%', '58%', '90%', '44%']

/** Grey lines as a placeholder for text. */
export function Skeleton({ lines = 3, label }: { lines?: number; label: string }) {
  const isLate = useDelayedFlag(true)
  return (
    <div data-slot="skeleton" className={styles.skeleton} role="status" aria-label={label}>
      {isLate ? widths.slice(0, lines).map(width => <i key={width} className={styles.sk} style={{ width }} />) : null}
    </div>
  )
}
