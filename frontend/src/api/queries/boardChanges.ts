/** Changing a board, and what its plan may cost. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { rest, unwrap } from '../client'
import type { BoardDetailRow, BodyOf, NewBoard } from '../types'
import { useAction } from './action'
import { keys } from './keys'

/** Creates a board from a plan by hand. The same `id` again returns the first one. */
export const createBoard = (chatId: string, body: NewBoard) =>
  unwrap(rest.POST('/api/v1/chats/{chat_id}/boards', { params: { path: { chat_id: chatId } }, body }))

export const startBoard = (id: string) =>
  unwrap(rest.POST('/api/v1/boards/{board_id}/start', { params: { path: { board_id: id } } }))
export const pauseBoard = (id: string) =>
  unwrap(rest.POST('/api/v1/boards/{board_id}/pause', { params: { path: { board_id: id } } }))
/** Lets a paused board go on. `limitMicro`: what it may cost in all from now on, in millionths of a dollar; null: as before. */
export const resumeBoard = (id: string, limitMicro: number | null = null) =>
  unwrap(
    rest.POST('/api/v1/boards/{board_id}/resume', {
      params: { path: { board_id: id } },
      body: { limit_micro: limitMicro },
    }),
  )
/** Has the answer put together from what there is. */
export const answerBoard = (id: string) =>
  unwrap(rest.POST('/api/v1/boards/{board_id}/answer', { params: { path: { board_id: id } } }))

/** What is changed in a task that is done again; null: nothing. */
type TaskChange = BodyOf<'/api/v1/boards/{board_id}/tasks/{number}/retry', 'post'>

export const retryBoardTask = (id: string, number: number, body: TaskChange) =>
  unwrap(
    rest.POST('/api/v1/boards/{board_id}/tasks/{number}/retry', { params: { path: { board_id: id, number } }, body }),
  )
/** Runs an ended board again from a task: a new board. The same `id` again returns the first one. */
export const forkBoard = (boardId: string, body: BodyOf<'/api/v1/boards/{board_id}/fork', 'post'>) =>
  unwrap(rest.POST('/api/v1/boards/{board_id}/fork', { params: { path: { board_id: boardId } }, body }))

/** What a plan with tasks for these agents may cost, in millionths of a dollar; null if too little is known. */
export const useBoardEstimate = (chatId: string, agentIds: readonly string[]) =>
  useQuery({
    queryKey: keys.boardEstimate(chatId, agentIds),
    queryFn: async ({ signal }) =>
      (
        await unwrap(
          rest.POST('/api/v1/chats/{chat_id}/boards/estimate', {
            params: { path: { chat_id: chatId } },
            body: { agent_ids: [...agentIds] },
            signal,
          }),
        )
      ).estimate_micro,
    enabled: agentIds.length > 0,
    placeholderData: keepPreviousData,
  })

/** Sends a request about a board for a button. Pressed again while it runs, it sends nothing. */
export const useBoardAction = (options: { onSuccess(detail: BoardDetailRow): void; onError(error: Error): void }) =>
  useAction({ mutationFn: (request: () => Promise<BoardDetailRow>) => request(), ...options })
