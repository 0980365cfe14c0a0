import { createContext, useContext } from 'react'
import type { BoardDetailRow, BoardRow, BoardTaskRow } from '@/api'

/** A board, its tasks and its actions. */
export interface BoardContextValue {
  board: BoardRow
  tasks: readonly BoardTaskRow[]
  /** Why the reader may not control it now; true while a request is sent, false if they may. */
  blocked: string | boolean
  /** The same for letting it cost more. */
  blockedLimit: string | boolean
  /** Sends one request, and puts the rows that it returns into the store. */
  perform(request: () => Promise<BoardDetailRow>): void
  /** Opens the form that does a task again. */
  runAgain(task: BoardTaskRow): void
}

export const BoardContext = createContext<BoardContextValue | null>(null)

export function useBoardContext(): BoardContextValue {
  const value = useContext(BoardContext)
  if (!value) throw new Error('useBoardContext is used outside of a board')
  return value
}
