/** The value of the last drawing, for what runs later: React may draw and throw the drawing away. */
import { type RefObject, useLayoutEffect, useRef } from 'react'

/** Set before any effect of the same drawing ends or begins, so that the end of an older effect finds it, too. */
export function useLatest<T>(value: T): RefObject<T> {
  const latest = useRef(value)
  useLayoutEffect(() => {
    latest.current = value
  })
  return latest
}
