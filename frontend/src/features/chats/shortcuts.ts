/** The keys of an open chat. */
import { useEffect } from 'react'
import { type MessageRow, stopRun } from '@/api'
import { hasModifier, isWriting } from '@/lib/keys'
import { chatState, isActive, learn } from '@/realtime'

interface ChatKeys {
  chatId: string
  reply(row: MessageRow): void
  focusComposer(): void
}

const focusedMessage = (chatId: string) => {
  const id = document.activeElement?.closest<HTMLElement>('[data-message]')?.dataset['message']
  return id ? chatState(chatId).messages.get(id) : undefined
}

/** Stops what works here now: all of it, since the keys name no one. */
function stopAll(chatId: string): void {
  for (const run of chatState(chatId).runs.values()) {
    if (isActive(run))
      stopRun(run.id).then(
        row => learn(chatId, [row]),
        () => undefined,
      )
  }
}

export function useChatKeys({ chatId, reply, focusComposer }: ChatKeys): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (hasModifier(event) && event.shiftKey && event.code === 'Period') {
        event.preventDefault()
        return stopAll(chatId)
      }
      if (isWriting(event) || event.ctrlKey || event.metaKey || event.altKey) return
      if (document.querySelector('[role=dialog]')) return
      const row = focusedMessage(chatId)
      if (event.key === 'r' && row) {
        event.preventDefault()
        reply(row)
      } else if (event.key === 'Escape') focusComposer()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [chatId, reply, focusComposer])
}
