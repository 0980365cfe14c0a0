import { queryOptions, useQuery } from '@tanstack/react-query'
import { isNotFound, rest, unwrap } from '../client'
import type { BodyOf } from '../types'
import { keys } from './keys'
import { fetchAllPages } from './pages'

export const agentsQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: keys.agents(workspaceId),
    queryFn: ({ signal }) =>
      fetchAllPages(query =>
        unwrap(
          rest.GET('/api/v1/workspaces/{workspace_id}/agents', {
            params: { path: { workspace_id: workspaceId }, query },
            signal,
          }),
        ),
      ),
  })
export const useAgents = (workspaceId: string) => useQuery(agentsQuery(workspaceId))

/** Reads one agent with its production version. */
export const readAgent = (id: string, signal?: AbortSignal) =>
  unwrap(rest.GET('/api/v1/agents/{agent_id}', { params: { path: { agent_id: id } }, ...(signal ? { signal } : {}) }))

/** Reads one agent with its production version. Disabled while `id` is undefined. */
export const useAgent = (workspaceId: string, id: string | undefined) =>
  useQuery({
    queryKey: keys.agent(workspaceId, id ?? ''),
    queryFn: ({ signal }) => readAgent(id ?? '', signal),
    enabled: id !== undefined,
  })

/** Reads a public agent by its handle, its id or its name as a tool. Disabled while `handle` is null. Fails with `taken_down` if it was taken down. */
export const usePublicAgent = (handle: string | null, maxAge = 0) =>
  useQuery({
    queryKey: keys.publicAgent(handle ?? ''),
    queryFn: ({ signal }) =>
      unwrap(rest.GET('/api/v1/directory/{handle}', { params: { path: { handle: handle ?? '' } }, signal })),
    enabled: handle !== null,
    staleTime: maxAge,
    retry: (count, error) => !isNotFound(error) && count < 2,
  })

/** The locked drafts of a workspace. The server sends no frame when a lock expires, so they are read again then. */
export const useLockedDrafts = (workspaceId: string) =>
  useQuery({
    queryKey: keys.lockedDrafts(workspaceId),
    queryFn: ({ signal }) =>
      fetchAllPages(query =>
        unwrap(
          rest.GET('/api/v1/workspaces/{workspace_id}/locked-drafts', {
            params: { path: { workspace_id: workspaceId }, query },
            signal,
          }),
        ),
      ),
    refetchInterval: query => {
      const expiryTimes = query.state.data?.map(draft => Date.parse(draft.lock_expires_at)) ?? []
      return expiryTimes.length > 0
        ? Math.max(MIN_REFETCH_MS, Math.min(...expiryTimes) - Date.now() + MIN_REFETCH_MS)
        : false
    },
  })

const MIN_REFETCH_MS = 5_000

/** With `open_chat`, a chat is created too, in which the agent posts its greeting. */
export const createAgent = (workspaceId: string, body: BodyOf<'/api/v1/workspaces/{workspace_id}/agents', 'post'>) =>
  unwrap(
    rest.POST('/api/v1/workspaces/{workspace_id}/agents', { params: { path: { workspace_id: workspaceId } }, body }),
  )
