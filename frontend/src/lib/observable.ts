/** An observable value, and the hook that selects a part of it. */
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
 * A part of an observable; the component draws again when the part differs by `isEqual`. It is read once for each value: keep
 * `part` and `isEqual` stable.
 */
export function useSelector<T, P>(
  source: Observable<T>,
  selector: (value: T) => P,
  isEqual: (a: P, b: P) => boolean = Object.is,
): P {
  const read = useMemo(() => {
    let last: { value: T; selector: P } | null = null
    return () => {
      const value = source.get()
      if (last === null || !Object.is(last.value, value)) {
        const next = selector(value)
        last = { value, selector: last !== null && isEqual(last.selector, next) ? last.selector : next }
      }
      return last.selector
    }
  }, [source, selector, isEqual])
  return useSyncExternalStore(source.subscribe, read)
}
