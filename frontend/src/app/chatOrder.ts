/** The order of the chats in the sidebar, which the keys for the next and previous chat follow. */
import { useEffect, useMemo, useState } from 'react'
import { type ListedChatRow, useChats } from '@/api'
import { observable, useSelector } from '@/lib/observable'
import { sameItems } from '@/lib/sameItems'

/** How long the order stays fixed after the pointer moved over the list, in ms. */
const FREEZE_MS = 2_000

const isOrderFrozen = observable(false)
const identity = (value: boolean) => value
let timer: ReturnType<typeof setTimeout> | undefined

/** Keeps the order for `FREEZE_MS`, so that no chat moves away under the pointer. */
export function freezeChatOrder(): void {
  clearTimeout(timer)
  isOrderFrozen.set(true)
  timer = setTimeout(() => isOrderFrozen.set(false), FREEZE_MS)
}

/** Sorts chats by an earlier order of their ids. Chats that are not in it come first. */
export function sortByOrder(chats: readonly ListedChatRow[], order: readonly string[]): readonly ListedChatRow[] {
  const positions = new Map(order.map((id, at) => [id, at]))
  return [...chats].sort((a, b) => (positions.get(a.chat.id) ?? -1) - (positions.get(b.chat.id) ?? -1))
}

/** Returns whether the Alt key is down: Alt with an arrow key goes through the list. */
function useIsAltDown(): boolean {
  const [isDown, setDown] = useState(false)
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => setDown(event.altKey)
    const onLeave = () => setDown(false)
    window.addEventListener('keydown', onKey)
    window.addEventListener('keyup', onKey)
    window.addEventListener('blur', onLeave)
    return () => {
      window.removeEventListener('keydown', onKey)
      window.removeEventListener('keyup', onKey)
      window.removeEventListener('blur', onLeave)
    }
  }, [])
  return isDown
}

/** Returns the chats of a workspace, the most recently active first. The order stays fixed while the reader chooses a chat. */
export function useOrderedChats(workspaceId: string): readonly ListedChatRow[] | undefined {
  const chats = useChats(workspaceId).data
  const isFrozen = useSelector(isOrderFrozen, identity)
  const isChoosing = useIsAltDown() || isFrozen
  const [order, setOrder] = useState<readonly string[]>([])
  const ids = useMemo(() => chats?.map(row => row.chat.id) ?? [], [chats])
  if (!isChoosing && !sameItems(order, ids)) setOrder(ids)
  return useMemo(() => chats && sortByOrder(chats, isChoosing ? order : ids), [chats, isChoosing, order, ids])
}
