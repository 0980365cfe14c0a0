/** Which answered boards the reader has seen: such a board is folded to its head from the next visit on. Kept in this browser. */
import { useContext, useEffect, useState } from 'react'
import type { BoardRow } from '@/api'
import { readStored, writeStored } from '@/lib/storage'
import { FoldingChoices } from './components/foldingChoices'

/** Number of boards of a chat that are remembered, the newest. */
const MAX_SEEN = 100

const storageKey = (chatId: string) => `atelier.boards.${chatId}`
const readSeen = (chatId: string) => readStored<readonly string[]>(storageKey(chatId), [])

/** Returns whether the reader had seen a board with its answer before this visit of the chat. Remembers that they see it now. */
export function useSeenEarlier(chatId: string, id: string, board: BoardRow | null): boolean {
  const choices = useContext(FoldingChoices)
  // Kept for the visit, because an item loses its own state when it leaves the visible part of the log.
  const [isSeen] = useState(() => {
    const isSeenEarlier = choices.get(`seen ${id}`) ?? readSeen(chatId).includes(id)
    choices.set(`seen ${id}`, isSeenEarlier)
    return isSeenEarlier
  })
  const isAnswered = board?.state === 'completed'
  useEffect(() => {
    if (isAnswered && !isSeen)
      writeStored(storageKey(chatId), [...readSeen(chatId).filter(each => each !== id), id].slice(-MAX_SEEN))
  }, [chatId, id, isAnswered, isSeen])
  return isSeen
}
