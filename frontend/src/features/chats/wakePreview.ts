/** Who a message would wake, asked of the server shortly after the last key. */
import { useEffect, useMemo, useState } from 'react'
import { previewWakes, type Wake } from '@/api'

const PAUSE_MS = 250

/** Only what may change the answer: who is named. */
const namesIn = (text: string) => (text.match(/@[\p{L}\p{N}_-]+/gu) ?? []).join(' ')

interface Draft {
  text: string
  replyTo: string | null
  /** Whether somebody is about to write: before that nobody asks. */
  isActive: boolean
}

/** `agents`: who is here. `working`: which of them are at work, and so would be steered instead of woken. */
export function useWakePreview(
  chatId: string,
  { text, replyTo, isActive }: Draft,
  agents: readonly string[],
  working: readonly string[],
): readonly Wake[] | null {
  const [wakes, setWakes] = useState<readonly Wake[] | null>(null)
  const names = namesIn(text)
  const participants = agents.join(' ')
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is asked again when others are here
  useEffect(() => {
    if (!isActive) return
    let isCurrent = true
    const ask = async () => {
      const message = { text: names || '…', ...(replyTo ? { reply_to: replyTo } : {}) }
      const answer = await previewWakes(chatId, message).catch(() => null)
      if (isCurrent) setWakes(answer)
    }
    const timer = setTimeout(() => void ask(), PAUSE_MS)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [chatId, names, participants, replyTo, isActive])
  const atWork = working.join(' ')
  return useMemo(() => wakes && withWorking(wakes, atWork.split(' ')), [wakes, atWork])
}

/** Who begins or ends to work meanwhile is known here: for that the server is not asked again. */
export const withWorking = (wakes: readonly Wake[], working: readonly string[]): readonly Wake[] =>
  wakes.map(wake =>
    wake.effect === 'cannot' ? wake : { ...wake, effect: working.includes(wake.agent_id) ? 'joins' : 'wakes' },
  )
