/** Older pages, read when the reader comes near the top. */
import { useCallback, useLayoutEffect, useRef } from 'react'
import { readOlder } from '@/api'
import { type ChatState, chatState, learnOlder, useChatPart } from '@/realtime'

/** How near to the top (px) the next page is asked for. */
const NEAR_TOP = 800

const hasOlderIn = (chat: ChatState) => chat.hasOlder
const floorOf = (chat: ChatState) => chat.floor

export function useOlder(chatId: string, firstKey: string) {
  const hasOlder = useChatPart(chatId, hasOlderIn)
  const floor = useChatPart(chatId, floorOf)
  const loading = useRef(false)
  const last = useRef({ floor, firstKey })
  // The list grew at its start in this very render: then, and only then, its place is kept from the end.
  const isShifting = floor < last.current.floor && firstKey !== last.current.firstKey

  useLayoutEffect(() => {
    last.current = { floor, firstKey }
  }, [floor, firstKey])

  const loadIfNear = useCallback(
    async (scrollTop: number) => {
      const chat = chatState(chatId)
      if (scrollTop > NEAR_TOP || loading.current || !chat.hasOlder) return
      loading.current = true
      try {
        const page = await readOlder(chatId, chat.floor)
        learnOlder(chatId, page.results, page.next !== null)
      } catch {
        // The next scroll asks again; the connection's banner says why.
      } finally {
        loading.current = false
      }
    },
    [chatId],
  )
  return { hasOlder, isShifting, loadIfNear }
}
