/** Older pages, read when the reader comes near the top. */
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef } from 'react'
import { readOlder } from '@/api'
import { type ChatState, chatState, learnOlder, useChatPart } from '@/realtime'

/** How near to the top (px) the next page is asked for. */
const NEAR_TOP = 2_000

const hasOlderIn = (chat: ChatState) => chat.hasOlder
const floorOf = (chat: ChatState) => chat.floor

/** One page more at the start of the log. Raises what the network raises. */
export async function readPage(chatId: string, limit?: number): Promise<void> {
  const chat = chatState(chatId)
  if (!chat.hasOlder) return
  const page = await readOlder(chatId, chat.floor, limit)
  learnOlder(chatId, page.results, page.next !== null)
}

export function useOlder(chatId: string, firstKey: string, scroller: RefObject<HTMLElement | null>) {
  const hasOlder = useChatPart(chatId, hasOlderIn)
  const floor = useChatPart(chatId, floorOf)
  const loading = useRef(false)
  const last = useRef({ floor, firstKey })
  // The list grew at its start in this very render: then, and only then, its place is kept from the end.
  const isShifting = floor < last.current.floor && firstKey !== last.current.firstKey

  useLayoutEffect(() => {
    last.current = { floor, firstKey }
  }, [floor, firstKey])

  const loadIfNear = useCallback(async () => {
    const chat = chatState(chatId)
    const isNear = (scroller.current?.scrollTop ?? 0) < NEAR_TOP
    if (!isNear || loading.current || !chat.hasOlder) return
    loading.current = true
    try {
      await readPage(chatId)
    } catch {
      // The next scroll asks again; the connection's banner says why.
    } finally {
      loading.current = false
    }
  }, [chatId, scroller])
  // A flick may have reached the top while the page was on its way: then nobody scrolls any more, and the next is due.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is looked at again after each page
  useEffect(() => void loadIfNear(), [floor, loadIfNear])
  return { hasOlder, isShifting, loadIfNear }
}
