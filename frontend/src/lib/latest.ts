/** A ref to the value of the last committed render, for callbacks that run later. */
import { type RefObject, useLayoutEffect, useRef } from 'react'

/** Set in a layout effect, so that effects and their clean-up functions read the current value. */
export function useLatest<T>(value: T): RefObject<T> {
  const latest = useRef(value)
  useLayoutEffect(() => {
    latest.current = value
  })
  return latest
}
