/** Taking a draft by typing: the first key in the prompt takes it, and no key is lost until it is there. */
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
  /** Take the draft and put the caret into the prompt. */
  start(): void
  /** Take the draft with what has been typed. */
  type(prompt: string, at: number): void
}

export function useStartEditing(
  workshop: Workshop,
  actions: DraftActions,
  prompt: RefObject<PromptHandle | null>,
): StartEditing {
  const { isMine, content, edit } = workshop
  const typed = useRef<Typed | null>(null)
  /** From the first key until the draft is this person's. */
  const isAcquiring = useRef(false)

  const start = async (start?: SpecContent) => {
    if (isAcquiring.current) return
    isAcquiring.current = true
    const row = await actions.acquire(start)
    if (row) return prompt.current?.focus()
    isAcquiring.current = false
    typed.current = null
    prompt.current?.reset()
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: only at the moment at which the draft is taken, or lost
  useEffect(() => {
    isAcquiring.current = false
    const last = typed.current
    typed.current = null
    if (isMine && last && last.prompt !== content.prompt) edit({ ...content, prompt: last.prompt }, last.at)
  }, [isMine])

  return {
    start: () => void start(),
    type: (text, at) => {
      typed.current = { prompt: text, at }
      void start({ ...content, prompt: text })
    },
  }
}
