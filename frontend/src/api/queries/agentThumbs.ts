/** What people think of the answers of one agent. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { rest, unwrap } from '../client'
import type { ThumbValue } from '../types'
import { keys } from './keys'
import { buildPageQuery } from './pages'

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
