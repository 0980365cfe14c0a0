/** The order of the chats in the sidebar, which the keys for the next and previous chat follow. */
import { useEffect, useMemo, useState } from 'react'
import { type ListedChatRow, useChats } from '@/api'
import { findNextEnd, isMuted } from '@/features/chats'
import { observable, useSelector } from '@/lib/observable'
import { sameItems } from '@/lib/sameItems'

/** How long the order stays fixed after the pointer moved over the list, in ms. */
const FREEZE_MS = 2_000
/** The longest time that a timer of a browser can wait, in ms. */
const MAX_TIMER_MS = 2 ** 31 - 1

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

const sortMutedLast = (chats: readonly ListedChatRow[]): readonly ListedChatRow[] => [
  ...chats.filter(row => !isMuted(row)),
  ...chats.filter(row => isMuted(row)),
]

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

/** Lets the component render again when the next chat is muted no more. Returns a number that then changes. */
function useMuteEnds(chats: readonly ListedChatRow[] | undefined): number {
  const [count, setCount] = useState(0)
  const end = findNextEnd(chats ?? [])
  useEffect(() => {
    if (end === null) return
    const timer = setTimeout(() => setCount(before => before + 1), Math.min(end - Date.now(), MAX_TIMER_MS))
    return () => clearTimeout(timer)
  }, [end])
  return count
}

/**
 * Returns the chats of a workspace without the archived ones, the most recently active first, the muted ones last. The order stays
 * fixed while the reader chooses a chat.
 */
export function useOrderedChats(workspaceId: string): readonly ListedChatRow[] | undefined {
  const all = useChats(workspaceId).data
  const ends = useMuteEnds(all)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the rows stay the same when a time passes
  const chats = useMemo(() => all && sortMutedLast(all.filter(row => !row.is_archived)), [all, ends])
  const isFrozen = useSelector(isOrderFrozen, identity)
  const isChoosing = useIsAltDown() || isFrozen
  const [order, setOrder] = useState<readonly string[]>([])
  const ids = useMemo(() => chats?.map(row => row.chat.id) ?? [], [chats])
  if (!isChoosing && !sameItems(order, ids)) setOrder(ids)
  return useMemo(() => chats && sortByOrder(chats, isChoosing ? order : ids), [chats, isChoosing, order, ids])
}
