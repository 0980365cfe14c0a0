/** A value that tells when it changes, and the hook that reads a part of it. */
import { useCallback, useRef, useSyncExternalStore } from 'react'

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

/** A part of an observable; the component draws again when the part differs by `isEqual`. */
export function usePart<T, P>(
  source: Observable<T>,
  part: (value: T) => P,
  isEqual: (a: P, b: P) => boolean = Object.is,
): P {
  const last = useRef<{ part: P } | null>(null)
  const read = useCallback(() => {
    const next = part(source.get())
    if (last.current && isEqual(last.current.part, next)) return last.current.part
    last.current = { part: next }
    return next
  }, [source, part, isEqual])
  return useSyncExternalStore(source.subscribe, read)
}
