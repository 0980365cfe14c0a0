/** Thumbs: what people think of the answers of agents. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { rest, unwrap } from '../client'
import type { BodyOf, ThumbValue } from '../types'
import { keys } from './keys'
import { buildPageQuery, fetchAllPages } from './pages'

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

/** The thumbs on the answers of an agent in chats that the reader may read, the newest first. */
export const useAgentThumbs = (agentId: string, value: ThumbValue | null) =>
  useInfiniteQuery({
    queryKey: [...keys.agentThumbs(agentId), value],
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        rest.GET('/api/v1/agents/{agent_id}/thumbs', {
          params: {
            path: { agent_id: agentId },
            query: { limit: 50, ...(value ? { value } : {}), ...buildPageQuery(pageParam) },
          },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: page => page.next,
    staleTime: 0,
  })

/** The number of thumbs on the answers of an agent, also in chats that the reader may not read. */
export const useThumbCounts = (agentId: string) =>
  useQuery({
    queryKey: [...keys.agentThumbs(agentId), 'counts'],
    queryFn: ({ signal }) =>
      unwrap(rest.GET('/api/v1/agents/{agent_id}/thumbs/counts', { params: { path: { agent_id: agentId } }, signal })),
    staleTime: 0,
  })
