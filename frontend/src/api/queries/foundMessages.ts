/** Searching messages, and reading those around a found one. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { rest, unwrap } from '../client'
import { readMessagesAround } from './chats'
import { keys } from './keys'
import { buildPageQuery } from './pages'

/** Searches the messages of all chats that the reader is in, the newest first. A query of no words is not sent. */
export const useFoundMessages = (workspaceId: string, query: string, limit: number) =>
  useQuery({
    queryKey: [...keys.foundMessages(workspaceId, query), limit],
    queryFn: ({ signal }) =>
      unwrap(
        rest.GET('/api/v1/workspaces/{workspace_id}/messages', {
          params: { path: { workspace_id: workspaceId }, query: { q: query, limit } },
          signal,
        }),
      ),
    enabled: query !== '',
    staleTime: 0,
  })

export interface MessageFilter {
  q: string
  chat_id?: string
  author_id?: string
  kind?: 'human' | 'agent'
  starts_on?: string
  ends_on?: string
  has_file?: boolean
  order?: 'newest' | 'best'
}

/** Searches the messages of all chats that the reader is in, page by page. A query of no words is not sent. */
export const useFoundMessagePages = (workspaceId: string, { q, ...filter }: MessageFilter) =>
  useInfiniteQuery({
    queryKey: [...keys.foundMessages(workspaceId, q), filter],
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        rest.GET('/api/v1/workspaces/{workspace_id}/messages', {
          params: { path: { workspace_id: workspaceId }, query: { q, ...filter, ...buildPageQuery(pageParam) } },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: page => page.next,
    enabled: q !== '',
    staleTime: 0,
  })

/** Reads the messages around one. */
export const useMessagesAround = (chatId: string, messageId: string) =>
  useQuery({
    queryKey: keys.messagesAround(chatId, messageId),
    queryFn: () => readMessagesAround(chatId, messageId),
    staleTime: 0,
  })
