/** The order in which the chats stand in the sidebar, and in which the keys walk through them. */
import { useEffect, useMemo, useState } from 'react'
import { type ChatSummaryRow, useChats } from '@/api'
import { observable, useSelector } from '@/lib/observable'
import { sameItems } from '@/lib/sameItems'

/** As long after the pointer moved over the list it is still being aimed at (ms). */
const FREEZE_MS = 2_000

const isOrderFrozen = observable(false)
const identity = (value: boolean) => value
let timer: ReturnType<typeof setTimeout> | undefined

/** Somebody aims at a chat in the list: none moves away under the pointer. */
export function freezeChatOrder(): void {
  clearTimeout(timer)
  isOrderFrozen.set(true)
  timer = setTimeout(() => isOrderFrozen.set(false), FREEZE_MS)
}

/** The chats in an order that was seen before; those that are new to it come first. */
export function inOrder(chats: readonly ChatSummaryRow[], order: readonly string[]): readonly ChatSummaryRow[] {
  const positions = new Map(order.map((id, at) => [id, at]))
  return [...chats].sort((a, b) => (positions.get(a.chat.id) ?? -1) - (positions.get(b.chat.id) ?? -1))
}

/** While Alt is held the keys walk through the list; it stays as it is until they are done. */
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

/** The chats of a workspace, the most recently active first. The order does not change while the reader chooses among them. */
export function useOrderedChats(workspaceId: string): readonly ChatSummaryRow[] | undefined {
  const chats = useChats(workspaceId).data
  const isFrozen = useSelector(isOrderFrozen, identity)
  const isChoosing = useIsAltDown() || isFrozen
  const [order, setOrder] = useState<readonly string[]>([])
  const ids = useMemo(() => chats?.map(each => each.chat.id) ?? [], [chats])
  if (!(isChoosing || sameItems(order, ids))) setOrder(ids)
  return useMemo(() => chats && inOrder(chats, isChoosing ? order : ids), [chats, isChoosing, order, ids])
}
