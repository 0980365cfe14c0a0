import { rest, unwrap } from '../client'

export const readBoard = (id: string) =>
  unwrap(rest.GET('/api/v1/boards/{board_id}', { params: { path: { board_id: id } } }))

/** Reads the newest boards of a chat, without their tasks. */
export const listNewestBoards = async (chatId: string, limit: number) =>
  (
    await unwrap(
      rest.GET('/api/v1/chats/{chat_id}/boards', { params: { path: { chat_id: chatId }, query: { limit } } }),
    )
  ).results

export const stopBoard = (id: string) =>
  unwrap(rest.POST('/api/v1/boards/{board_id}/stop', { params: { path: { board_id: id } } }))
