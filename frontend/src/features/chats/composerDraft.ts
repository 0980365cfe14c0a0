/** The unsent text of the composer and the message it replies to, kept per chat. */
import { useCallback, useEffect, useRef, useState } from 'react'
import { onStoredElsewhere, readStored, writeStored } from '@/lib/storage'
import { sendTyping } from '@/realtime'

interface ComposerDraft {
  text: string
  replyTo: string | null
}

const empty: ComposerDraft = { text: '', replyTo: null }
const storageKey = (chatId: string) => `atelier.text.${chatId}`
const TYPING_EVERY_MS = 2_000

/** Stores a text as the unsent message of a chat that is opened next. */
export const storeComposerText = (chatId: string, text: string) => writeStored(storageKey(chatId), { ...empty, text })

/** Holds the unsent message of a chat. A component that uses it needs the chat's id as its key. */
export function useComposerDraft(chatId: string) {
  const [value, setValue] = useState<ComposerDraft>(() => readStored(storageKey(chatId), empty))
  const lastTypingAt = useRef(0)

  useEffect(() => writeStored(storageKey(chatId), value.text || value.replyTo ? value : null), [chatId, value])

  // The other tabs of the same person show the same text, and clear it when it is sent.
  useEffect(
    () =>
      onStoredElsewhere<ComposerDraft>(storageKey(chatId), (suffix, stored) => {
        if (suffix === '') setValue(stored ?? empty) // not the key of another chat
      }),
    [chatId],
  )

  const setText = useCallback(
    (text: string) => {
      setValue(before => ({ ...before, text }))
      const now = Date.now()
      if (text === '' || now - lastTypingAt.current < TYPING_EVERY_MS) return
      lastTypingAt.current = now
      sendTyping(chatId)
    },
    [chatId],
  )
  const setReplyTo = useCallback((replyTo: string | null) => setValue(before => ({ ...before, replyTo })), [])
  const clear = useCallback(() => setValue(empty), [])
  return { ...value, setText, setReplyTo, clear }
}
