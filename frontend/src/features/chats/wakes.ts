/** Who a message would wake, asked of the server shortly after the last key. */
import { useEffect, useState } from 'react'
import { type Wake, whoWakes } from '@/api'

const PAUSE_MS = 250

/** Only what may change the answer: who is named, and whether anything is said at all. */
const namesIn = (text: string) => (text.match(/@[\p{L}\p{N}_-]+/gu) ?? []).join(' ')

/** `room`: what else the answer depends on, e.g. who is here and who works. */
export function useWakes(chatId: string, text: string, replyTo: string | null, room: string): readonly Wake[] | null {
  const [wakes, setWakes] = useState<readonly Wake[] | null>(null)
  const asked = `${namesIn(text)} ${room}`
  // biome-ignore lint/correctness/useExhaustiveDependencies: `asked` stands for the text; the rest of it changes nothing
  useEffect(() => {
    let isCurrent = true
    const ask = async () => {
      const answer = await whoWakes(chatId, { text: text || '…', ...(replyTo ? { reply_to: replyTo } : {}) }).catch(
        () => null,
      )
      if (isCurrent) setWakes(answer)
    }
    const timer = setTimeout(() => void ask(), PAUSE_MS)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [chatId, asked, replyTo])
  return wakes
}
