/** The versions of an agent, the replies of each, and agents as files. */
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { buildUrl, rest, unwrap } from '../client'
import type { BodyOf, ListedSuggestionRow } from '../types'
import { keys } from './keys'
import { buildPageQuery, fetchAllPages } from './pages'

/** Reads every version, newest first; again when `production`, the id of the production spec, changes. */
export const useVersions = (agentId: string, production: string) =>
  useQuery({
    queryKey: [...keys.versions(agentId), 'all', production],
    queryFn: ({ signal }) =>
      fetchAllPages(query =>
        unwrap(
          rest.GET('/api/v1/agents/{agent_id}/versions', { params: { path: { agent_id: agentId }, query }, signal }),
        ),
      ),
    placeholderData: keepPreviousData,
  })

/** Reads the accepted suggestions of each version of an agent, by version number, oldest first. */
export const useSuggestionsByVersion = (workspaceId: string, agentId: string, production: string) =>
  useQuery({
    queryKey: [...keys.suggestions(workspaceId), 'by-version', agentId, production],
    queryFn: async ({ signal }) => {
      const rows = await fetchAllPages(page =>
        unwrap(
          rest.GET('/api/v1/workspaces/{workspace_id}/suggestions', {
            params: { path: { workspace_id: workspaceId }, query: { state: 'accepted', agent_id: agentId, ...page } },
            signal,
          }),
        ),
      )
      const versions = new Map<number, ListedSuggestionRow[]>()
      for (const row of rows.reverse())
        if (row.saved_as !== null) versions.set(row.saved_as, [...(versions.get(row.saved_as) ?? []), row])
      return versions
    },
    placeholderData: keepPreviousData,
  })

/** Reads the spec behind a stamp: a version, or a draft applied in one of the reader's chats. It never changes. */
export const useSpec = (agentId: string, specId: string) =>
  useQuery({
    queryKey: keys.spec(agentId, specId),
    queryFn: () =>
      unwrap(
        rest.GET('/api/v1/agents/{agent_id}/specs/{spec_id}', {
          params: { path: { agent_id: agentId, spec_id: specId } },
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  })

/** Reads what applying a draft changed, by the id of its system message. It never changes. */
export const useAppliedDiff = (chatId: string, messageId: string) =>
  useQuery({
    queryKey: ['chat', chatId, 'applied', messageId],
    queryFn: ({ signal }) =>
      unwrap(
        rest.GET('/api/v1/chats/{chat_id}/messages/{message_id}/diff', {
          params: { path: { chat_id: chatId, message_id: messageId } },
          signal,
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  })

/** Reads the replies of a version in the reader's chats, newest first, page by page. */
export const useReplies = (agentId: string, version: number) =>
  useInfiniteQuery({
    queryKey: [...keys.version(agentId, version), 'replies'],
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        rest.GET('/api/v1/agents/{agent_id}/versions/{number}/replies', {
          params: { path: { agent_id: agentId, number: version }, query: { limit: 20, ...buildPageQuery(pageParam) } },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: page => page.next,
    // The server sends no frame when they change.
    staleTime: 0,
  })

/** `base_version` is the number of the production version that is replaced; `chat_id` the chat that gets a message about it. */
export const restoreVersion = (
  agentId: string,
  version: number,
  body: BodyOf<'/api/v1/agents/{agent_id}/versions/{number}/restore', 'post'>,
) =>
  unwrap(
    rest.POST('/api/v1/agents/{agent_id}/versions/{number}/restore', {
      params: { path: { agent_id: agentId, number: version } },
      body,
    }),
  )

export type FileFormat = 'yaml' | 'json'

export const exportUrl = (agentId: string, version: number, format: FileFormat) =>
  buildUrl('/api/v1/agents/{agent_id}/file', { path: { agent_id: agentId }, query: { format, version } })

/** With `is_trial`, nothing is created: the response describes the agent that would be. */
export const importAgent = (
  workspaceId: string,
  body: BodyOf<'/api/v1/workspaces/{workspace_id}/agents/import', 'post'>,
) =>
  unwrap(
    rest.POST('/api/v1/workspaces/{workspace_id}/agents/import', {
      params: { path: { workspace_id: workspaceId } },
      body,
    }),
  )
