/** Scrolling to a message anywhere in the log. */
import { useCallback, useEffect, useState } from 'react'
import { ApiError, type MessageRow, readMessagesAround, readNewerMessages } from '@/api'
import { getErrorText } from '@/lib/errors'
import { t } from '@/lib/language'
import { useLatest } from '@/lib/latest'
import { showToast } from '@/ui/toast'
import type { LogPart } from './logPart'

/** The message to scroll to, or the "new" divider. `number` increases, so that the same target can be requested again. */
export interface Target {
  id: string
  number: number
}

export const UNREAD = 'new'

/** Scrolls to a message in the URL. `visit` changes with every navigation, so that the same link works again. */
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

  const { open } = part
  const goTo = useCallback(
    async (id: string) => {
      if (id !== UNREAD && !loaded.current.some(row => row.id === id)) {
        try {
          open(await readMessagesAround(chatId, id))
        } catch (error) {
          showToast(error instanceof ApiError && error.code === 'not_found' ? t('messageGone') : getErrorText(error))
          return
        }
      }
      show(id)
    },
    [chatId, open, show],
  )
  const goToSeq = useCallback(
    async (seq: number) => {
      const known = loaded.current.find(row => row.seq === seq)
      if (known) return show(known.id)
      try {
        const [found] = (await readNewerMessages(chatId, seq - 1, 1)).results
        if (found?.seq === seq) await goTo(found.id)
        else showToast(t('messageGone'))
      } catch (error) {
        showToast(getErrorText(error))
      }
    },
    [chatId, goTo, show],
  )
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once per visit
  useEffect(() => {
    if (messageId !== null) void goTo(messageId)
  }, [messageId, visit])
  return { target, goTo, goToSeq }
}
