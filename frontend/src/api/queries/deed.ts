import { type UseMutationOptions, useMutation } from '@tanstack/react-query'
import { useRef } from 'react'

/** A mutation for a button: pressed again while it is under way, it does nothing. (What is pending is told too late for a double click.) */
export function useDeed<Result, Input>(options: UseMutationOptions<Result, Error, Input>) {
  const running = useRef(false)
  const mutation = useMutation({
    ...options,
    onSettled: (...settled) => {
      running.current = false
      return options.onSettled?.(...settled)
    },
  })
  const mutate: typeof mutation.mutate = (...input) => {
    if (running.current) return
    running.current = true
    mutation.mutate(...input)
  }
  return { ...mutation, mutate }
}
