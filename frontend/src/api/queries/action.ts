import { type UseMutationOptions, useMutation } from '@tanstack/react-query'
import { useRef } from 'react'

/** A mutation for a button. Pressed again while it runs, it does nothing: `isPending` changes too late to stop a double click. */
export function useAction<Result, Input>(options: UseMutationOptions<Result, Error, Input>) {
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
