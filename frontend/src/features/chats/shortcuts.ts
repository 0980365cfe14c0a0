/** The keys of an open chat. */
import { useEffect } from 'react'
import { type MessageRow, stopRun } from '@/api'
import { hasModifier, isWriting, LETTERS } from '@/lib/keys'
import { kept } from '@/lib/stored'
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

const isPlain = (event: KeyboardEvent) => !(isWriting(event) || event.ctrlKey || event.metaKey || event.altKey)

function onPlainKey(event: KeyboardEvent, { chatId, reply, focusComposer }: ChatKeys): void {
  if (document.querySelector('[role=dialog]')) return
  if (event.key === 'Escape') focusComposer()
  const row = event.key === 'r' && kept(LETTERS, true) ? focusedMessage(chatId) : undefined
  if (!row) return
  event.preventDefault()
  reply(row)
}

export function useChatKeys(keys: ChatKeys): void {
  const { chatId, reply, focusComposer } = keys
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isStop = hasModifier(event) && event.shiftKey && event.code === 'Period'
      if (isStop) {
        event.preventDefault()
        stopAll(chatId)
      } else if (isPlain(event)) onPlainKey(event, { chatId, reply, focusComposer })
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [chatId, reply, focusComposer])
}
