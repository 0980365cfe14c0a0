/** Coming to a message, wherever in the log it is. */
import { useCallback, useEffect, useState } from 'react'
import { ApiError, type MessageRow, readAround } from '@/api'
import { textOfError } from '@/lib/errors'
import { t } from '@/lib/language'
import { useLatest } from '@/lib/latest'
import { showToast } from '@/ui/toast'
import type { LogPart } from './logPart'

/** What the log is to show: a message, or the line above what is new. Another number: again. */
export interface Target {
  id: string
  number: number
}

export const NEWS = 'new'

/** `visit` changes with every navigation, so that the same link leads there again. */
export function useScrollToMessage(
  chatId: string,
  wanted: string | null,
  visit: unknown,
  messages: readonly MessageRow[],
  part: LogPart,
) {
  const [target, setTarget] = useState<Target | null>(null)
  const here = useLatest(messages)
  const show = useCallback((id: string) => setTarget(before => ({ id, number: (before?.number ?? 0) + 1 })), [])

  const { open } = part
  const goTo = useCallback(
    async (id: string) => {
      if (id !== NEWS && !here.current.some(row => row.id === id)) {
        try {
          open(await readAround(chatId, id))
        } catch (error) {
          showToast(error instanceof ApiError && error.code === 'not_found' ? t('messageGone') : textOfError(error))
          return
        }
      }
      show(id)
    },
    [chatId, open, show],
  )
  // biome-ignore lint/correctness/useExhaustiveDependencies: each visit leads there once
  useEffect(() => {
    if (wanted !== null) void goTo(wanted)
  }, [wanted, visit])
  return { target, goTo }
}
