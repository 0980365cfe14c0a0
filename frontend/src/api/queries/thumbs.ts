/** Thumbs: what people think of the answers of agents. */
import { useQuery } from '@tanstack/react-query'
import { rest, unwrap } from '../client'
import type { BodyOf } from '../types'
import { keys } from './keys'
import { fetchAllPages } from './pages'

export const giveThumb = (
  chatId: string,
  messageId: string,
  body: BodyOf<'/api/v1/chats/{chat_id}/messages/{message_id}/thumb', 'put'>,
) =>
  unwrap(
    rest.PUT('/api/v1/chats/{chat_id}/messages/{message_id}/thumb', {
      params: { path: { chat_id: chatId, message_id: messageId } },
      body,
    }),
  )

export const takeBackThumb = (chatId: string, messageId: string) =>
  unwrap(
    rest.DELETE('/api/v1/chats/{chat_id}/messages/{message_id}/thumb', {
      params: { path: { chat_id: chatId, message_id: messageId } },
    }),
  )

/** The reader's thumbs in a chat, with their texts. */
export const useOwnThumbs = (chatId: string, enabled: boolean) =>
  useQuery({
    queryKey: keys.ownThumbs(chatId),
    queryFn: ({ signal }) =>
      fetchAllPages(query =>
        unwrap(rest.GET('/api/v1/chats/{chat_id}/thumbs', { params: { path: { chat_id: chatId }, query }, signal })),
      ),
    enabled,
  })
