/** Scrolling to a message anywhere in the log. */
import { useCallback, useEffect, useRef, useState } from 'react'
import { isNotFound, type MessagePage, type MessageRow, readMessagesAround, readNewerMessages } from '@/api'
import { getErrorText } from '@/lib/errors'
import { t } from '@/lib/language'
import { useLatest } from '@/lib/latest'
import { chatState } from '@/realtime'
import { showToast } from '@/ui/toast'
import type { LogPart } from './logPart'
import { selectOtherAnswers } from './otherAnswers'

/** The message to scroll to, or the "new" divider. `number` increases, so that the same target can be requested again. */
export interface Target {
  id: string
  number: number
}

export const UNREAD = 'new'

const loadAnswerPlaces = () => import('./answerPlaces')

/**
 * Shows the answer with this message in the place of the first answer. Returns the `seq` of that place; null for a
 * message that is shown in its own place.
 */
async function findPlace(chatId: string, id: string): Promise<number | null> {
  if (selectOtherAnswers(chatState(chatId)).length === 0) return null
  const { revealAnswer } = await loadAnswerPlaces()
  return revealAnswer(chatState(chatId), id)
}

/** Reads the part of the log around the message with this `seq`. */
async function readPageWith(chatId: string, seq: number): Promise<MessagePage> {
  const page = await readNewerMessages(chatId, seq - 1, 1)
  const [first] = page.results
  return first ? readMessagesAround(chatId, first.id) : page
}

/**
 * Returns the message to which the log is to scroll (`Timeline` does so), at first that of the URL, and functions that
 * choose another one and load the part of the log with it. The last choice wins, even if it is loaded before an earlier
 * one. `visit` changes with every navigation, so that the same link works again.
 */
export function useScrollToMessage(
  chatId: string,
  messageId: string | null,
  visit: unknown,
  messages: readonly MessageRow[],
  part: LogPart,
) {
  const [target, setTarget] = useState<Target | null>(null)
  const loaded = useLatest(messages)
  const show = useCallback((id: string) => setTarget(before => ({ id, number: (before?.number ?? 0) + 1 })), [])

  const choices = useRef(0)
  /** Returns the page. Null if another message was chosen meanwhile, or if the page cannot be read: then a toast says why. */
  const waitForPage = useCallback(async (reading: Promise<MessagePage>) => {
    const choice = choices.current
    try {
      const page = await reading
      return choice === choices.current ? page : null
    } catch (error) {
      if (choice === choices.current) showToast(isNotFound(error) ? t('messageGone') : getErrorText(error))
      return null
    }
  }, [])

  const { open } = part
  const goTo = useCallback(
    async (id: string) => {
      const choice = ++choices.current
      if (id !== UNREAD && !loaded.current.some(row => row.id === id)) {
        const page = await waitForPage(readMessagesAround(chatId, id))
        if (!page) return
        open(page)
      }
      const seq = await findPlace(chatId, id)
      if (seq !== null && !loaded.current.some(row => row.seq === seq)) {
        const page = await waitForPage(readPageWith(chatId, seq))
        if (!page) return
        open(page)
        await findPlace(chatId, id) // the other answers are known only with the first one
      }
      if (choice === choices.current) show(id)
    },
    [chatId, open, show, waitForPage],
  )
  const goToSeq = useCallback(
    async (seq: number) => {
      choices.current++
      const known = loaded.current.find(row => row.seq === seq)
      if (known) return goTo(known.id)
      const page = await waitForPage(readNewerMessages(chatId, seq - 1, 1))
      if (!page) return
      const [found] = page.results
      if (found?.seq === seq) await goTo(found.id)
      else showToast(t('messageGone'))
    },
    [chatId, goTo, waitForPage],
  )
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once per visit
  useEffect(() => {
    if (messageId !== null) void goTo(messageId)
  }, [messageId, visit])
  return { target, goTo, goToSeq }
}
