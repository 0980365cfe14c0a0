/** The text of the composer, kept per chat, with the message it answers. */
import { useCallback, useEffect, useRef, useState } from 'react'
import { keep, kept } from '@/lib/stored'
import { sayTyping } from '@/realtime'

interface Composition {
  text: string
  replyTo: string | null
}

const empty: Composition = { text: '', replyTo: null }
const stored = (chatId: string) => `atelier.text.${chatId}`
const TYPING_EVERY_MS = 2_000

/** Begins anew when the chat changes: draw the composer with the chat's id as its key. */
export function useComposition(chatId: string) {
  const [value, setValue] = useState<Composition>(() => kept(stored(chatId), empty))
  const saidTyping = useRef(0)

  useEffect(() => keep(stored(chatId), value.text || value.replyTo ? value : null), [chatId, value])

  const setText = useCallback(
    (text: string) => {
      setValue(before => ({ ...before, text }))
      const now = Date.now()
      if (text === '' || now - saidTyping.current < TYPING_EVERY_MS) return
      saidTyping.current = now
      sayTyping(chatId)
    },
    [chatId],
  )
  const setReplyTo = useCallback((replyTo: string | null) => setValue(before => ({ ...before, replyTo })), [])
  const clear = useCallback(() => setValue(empty), [])
  return { ...value, setText, setReplyTo, clear }
}
