/** The preview of which agents a message would wake, requested shortly after the last key. */
import { useEffect, useMemo, useState } from 'react'
import { previewWakes, type WakeEffect } from '@/api'
import { listMentions } from '@/lib/mentions'

const PAUSE_MS = 250

/** Returns the mentions in a text: the only part that `is_addressed` of the server depends on. */
const extractMentions = (text: string) =>
  listMentions(text)
    .map(({ handle }) => `@${handle}`)
    .join(' ')

interface PreviewInput {
  text: string
  replyTo: string | null
  /** The uploaded files that are sent with the message. */
  fileIds: readonly string[]
  /** Whether the composer has the focus or a text. Otherwise, and without files, no request is sent. */
  isActive: boolean
}

interface Preview {
  /** The mentions and the agents for which it was requested. */
  mentions: string
  agentIds: string
  wakes: readonly WakeEffect[] | null
}

/**
 * Returns what a message would do to each agent. `agents` are those in the chat, each with whether it was taken down, `working` those
 * with an active run, and `phases` change with each step of these runs, and when an agent begins or ends its work in another chat.
 */
export function useWakePreview(
  chatId: string,
  { text, replyTo, fileIds, isActive: isWriting }: PreviewInput,
  agents: readonly string[],
  working: readonly string[],
  phases: readonly string[],
): readonly WakeEffect[] | null {
  const [preview, setPreview] = useState<Preview | null>(null)
  const mentions = extractMentions(text)
  const agentIds = agents.join(' ')
  const workingIds = working.join(' ')
  const files = fileIds.join(' ')
  // While the message is empty, a step of an answer causes no request; the first key of a message does.
  const activity = text || files ? [workingIds, ...phases].join(' ') : ''
  const isActive = isWriting || files !== ''
  // A preview stays on the page while nobody writes.
  const isOutdated = preview !== null && preview.agentIds !== agentIds
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs and steps change the answer, for example by using up a budget
  useEffect(() => {
    if (!isActive && !isOutdated) return
    let isCurrent = true
    const requestPreview = async () => {
      const message = {
        text: mentions || '…',
        ...(replyTo ? { reply_to: replyTo } : {}),
        ...(files ? { file_ids: files.split(' ') } : {}),
      }
      const answer = await previewWakes(chatId, message).catch(() => null)
      if (isCurrent) setPreview({ mentions, agentIds, wakes: answer })
    }
    const timer = setTimeout(() => void requestPreview(), PAUSE_MS)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [chatId, mentions, agentIds, activity, replyTo, files, isActive])
  // After sending by the button the composer is not in use, and the preview is that of the message that was sent.
  const wakes = preview && (isActive || preview.mentions === mentions) ? preview.wakes : null
  return useMemo(() => wakes && adjustToActiveRuns(wakes, workingIds.split(' ')), [wakes, workingIds])
}

/**
 * Adjusts the effects to the runs of this chat that started or ended since the response, until the next one arrives. What an agent
 * does in another chat is known from the response alone.
 */
export const adjustToActiveRuns = (wakes: readonly WakeEffect[], working: readonly string[]): readonly WakeEffect[] =>
  wakes.map(wake => {
    if (wake.effect === 'refused' || wake.effect === 'after_other_work') return wake
    if (!working.includes(wake.agent_id)) return { ...wake, effect: 'wakes' }
    return wake.effect === 'wakes' ? { ...wake, effect: 'next_step_or_after', reason: null } : wake
  })
