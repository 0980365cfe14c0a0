import { type UseMutationOptions, useMutation } from '@tanstack/react-query'
import { useRef } from 'react'

/** A mutation for a button. Pressed again while it runs, it does nothing: `isPending` changes too late to stop a double click. */
export function useAction<Result, Input>(options: UseMutationOptions<Result, Error, Input>) {
  const isRunning = useRef(false)
  const mutation = useMutation({
    ...options,
    onSettled: (...settled) => {
      isRunning.current = false
      return options.onSettled?.(...settled)
    },
  })
  const mutate: typeof mutation.mutate = (...input) => {
    if (isRunning.current) return
    isRunning.current = true
    mutation.mutate(...input)
  }
  return { ...mutation, mutate }
}
