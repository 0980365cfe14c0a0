import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { rest, unwrap } from '../client'
import type { RunStateFilter } from '../types'
import { keys } from './keys'
import { buildPageQuery } from './pages'

/** How often a run that has not ended is read again, in milliseconds. */
const LIVE_INTERVAL = 2_000

export const useAgentRuns = (agentId: string, filter: { chat: string; state: RunStateFilter }) =>
  useInfiniteQuery({
    queryKey: [...keys.agentRuns(agentId), filter],
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        rest.GET('/api/v1/agents/{agent_id}/runs', {
          params: {
            path: { agent_id: agentId },
            query: {
              state: filter.state,
              limit: 50,
              ...(filter.chat ? { chat: filter.chat } : {}),
              ...buildPageQuery(pageParam),
            },
          },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: page => page.next,
    staleTime: 0,
  })

/** Reads a run with the parts of its timeline. A run that has not ended is read again and again. */
export const useRunInspection = (runId: string) =>
  useQuery({
    queryKey: keys.runInspection(runId),
    queryFn: ({ signal }) =>
      unwrap(rest.GET('/api/v1/runs/{run_id}/inspection', { params: { path: { run_id: runId } }, signal })),
    staleTime: 0,
    refetchInterval: query => (query.state.data && !query.state.data.run.ended_at ? LIVE_INTERVAL : false),
  })

/** Reads a request to a model as it was sent. */
export const useSentRequest = (runId: string, requestId: string) =>
  useQuery({
    queryKey: keys.sentRequest(runId, requestId),
    queryFn: ({ signal }) =>
      unwrap(
        rest.GET('/api/v1/runs/{run_id}/requests/{request_id}', {
          params: { path: { run_id: runId, request_id: requestId } },
          signal,
        }),
      ),
  })

/** Reads what an agent sees, for editors. */
export const useViewpoint = (agentId: string) =>
  useQuery({
    queryKey: keys.viewpoint(agentId),
    queryFn: ({ signal }) =>
      unwrap(rest.GET('/api/v1/agents/{agent_id}/viewpoint', { params: { path: { agent_id: agentId } }, signal })),
    staleTime: 0,
  })
