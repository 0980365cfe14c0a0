/** Starts editing by typing: the first key in the prompt acquires the lock, and keys typed until then are kept. */
import { type RefObject, useEffect, useRef } from 'react'
import type { SpecContent } from '@/api'
import type { DraftActions } from './actions'
import type { Workshop } from './draftSession'
import type { PromptHandle } from './PromptEditor'

interface Typed {
  prompt: string
  at: number
}

interface StartEditing {
  /** Acquires the lock and focuses the prompt. */
  start(): void
  /** Acquires the lock with the typed text. */
  type(prompt: string, at: number): void
  /** Adds a line to the prompt unless it has it, and focuses the prompt. Acquires the lock if need be. */
  addLine(line: string): void
}

export function useStartEditing(
  workshop: Workshop,
  actions: DraftActions,
  prompt: RefObject<PromptHandle | null>,
): StartEditing {
  const { isMine, content, edit } = workshop
  const typed = useRef<Typed | null>(null)
  /** True from the first key until the lock is acquired. */
  const isAcquiring = useRef(false)

  const acquire = async (initial?: SpecContent) => {
    if (isAcquiring.current) return
    isAcquiring.current = true
    const row = await actions.acquire(initial)
    if (row) return prompt.current?.focus()
    isAcquiring.current = false
    typed.current = null
    prompt.current?.reset()
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: runs only when the lock is acquired or lost
  useEffect(() => {
    isAcquiring.current = false
    const last = typed.current
    typed.current = null
    if (isMine && last && last.prompt !== content.prompt) edit({ ...content, prompt: last.prompt }, last.at)
  }, [isMine])

  const type = (text: string, at: number) => {
    typed.current = { prompt: text, at }
    void acquire({ ...content, prompt: text })
  }
  return {
    start: () => void acquire(),
    type,
    addLine: line => {
      const hasLine = content.prompt.split('\n').includes(line)
      const text = hasLine ? content.prompt : `${content.prompt.trimEnd()}\n${line}`.trimStart()
      if (!isMine) return type(text, text.length)
      if (!hasLine) edit({ ...content, prompt: text }, text.length)
      prompt.current?.focus()
    },
  }
}
