/** Says after a reconnect how many tasks of boards were done meanwhile. */
import { useCallback, useEffect, useRef, useState } from 'react'
import { useTexts } from '@/lib/language'
import { type ChatState, chatState, chatTopic, onFrame, useChatSelector, useConnection } from '@/realtime'
import { showToast } from '@/ui/toast'

const none: readonly string[] = []

const listUnderWay = ({ rows }: ChatState) =>
  [...rows.board_task.values()].filter(task => task.ended_at === null).map(task => task.id)

/** Returns how many of these tasks succeeded; null until all of them are known: those of an ended board are read by REST. */
function countDone({ rows }: ChatState, ids: readonly string[]): number | null {
  const tasks = ids.map(id => rows.board_task.get(id))
  if (tasks.length === 0 || tasks.includes(undefined)) return null
  return tasks.filter(task => task?.state === 'succeeded').length
}

export function useBoardsWentOn(chatId: string): void {
  const { t } = useTexts()
  const isConnected = useConnection().state === 'open'
  /** The tasks that had not ended when the connection was lost. */
  const underWay = useRef(none)
  /** Those of them that had ended when there was a connection again, or were not known any more. */
  const [ended, setEnded] = useState(none)
  useEffect(() => {
    if (!isConnected) underWay.current = listUnderWay(chatState(chatId))
  }, [isConnected, chatId])
  useEffect(
    () =>
      onFrame(frame => {
        if (frame.type !== 'subscribed' || frame.topic !== chatTopic(chatId) || underWay.current.length === 0) return
        const still = new Set(listUnderWay(chatState(chatId)))
        setEnded(underWay.current.filter(id => !still.has(id)))
        underWay.current = none
      }),
    [chatId],
  )
  const count = useChatSelector(
    chatId,
    useCallback((chat: ChatState) => countDone(chat, ended), [ended]),
  )
  useEffect(() => {
    if (count === null) return
    if (count > 0) showToast(t('board.wentOn', { count }))
    setEnded(none)
  }, [count, t])
}
