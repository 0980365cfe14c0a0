/** An observable value, and a hook that selects a part of it. */
import { useMemo, useSyncExternalStore } from 'react'

export interface Observable<T> {
  get(): T
  set(next: T): void
  subscribe(listener: () => void): () => void
}

export function observable<T>(initial: T): Observable<T> {
  let value = initial
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return
      value = next
      for (const listener of [...listeners]) listener()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/**
 * Selects a part of an observable. The component renders again when the part changes by `isEqual`. The selector runs once
 * for each value, so `selector` and `isEqual` must be stable.
 */
export function useSelector<T, P>(
  source: Observable<T>,
  selector: (value: T) => P,
  isEqual: (a: P, b: P) => boolean = Object.is,
): P {
  const read = useMemo(() => {
    let last: { value: T; selected: P } | null = null
    return () => {
      const value = source.get()
      if (last === null || !Object.is(last.value, value)) {
        const next = selector(value)
        last = { value, selected: last !== null && isEqual(last.selected, next) ? last.selected : next }
      }
      return last.selected
    }
  }, [source, selector, isEqual])
  return useSyncExternalStore(source.subscribe, read)
}
