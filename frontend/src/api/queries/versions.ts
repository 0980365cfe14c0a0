/** The versions of an agent, what each answered, and agents as files. */
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { answerOf, rest, urlOf } from '../client'
import type { BodyOf, ListedSuggestionRow } from '../types'
import { keys } from './keys'
import { fetchAllPages, pageQuery } from './pages'

/** Every version, newest first; read again when another one is production. */
export const useVersions = (agentId: string, production: string) =>
  useQuery({
    queryKey: [...keys.versions(agentId), 'all', production],
    queryFn: ({ signal }) =>
      fetchAllPages(query =>
        answerOf(
          rest.GET('/api/v1/agents/{agent_id}/versions', { params: { path: { agent_id: agentId }, query }, signal }),
        ),
      ),
    placeholderData: keepPreviousData,
  })

/** The accepted suggestions that went into each version of an agent, by its number; the first one first. */
export const useSuggestionsByVersion = (workspaceId: string, agentId: string, production: string) =>
  useQuery({
    queryKey: [...keys.suggestions(workspaceId), 'went into', agentId, production],
    queryFn: async ({ signal }) => {
      const rows = await fetchAllPages(page =>
        answerOf(
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

/** The text behind a stamp: a version, or what was applied in a chat of the reader's. It never changes. */
export const useSpec = (agentId: string, specId: string) =>
  useQuery({
    queryKey: keys.spec(agentId, specId),
    queryFn: () =>
      answerOf(
        rest.GET('/api/v1/agents/{agent_id}/specs/{spec_id}', {
          params: { path: { agent_id: agentId, spec_id: specId } },
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  })

/** What an apply changed, by its message in the chat. It never changes. */
export const useAppliedDiff = (chatId: string, messageId: string) =>
  useQuery({
    queryKey: ['chat', chatId, 'applied', messageId],
    queryFn: ({ signal }) =>
      answerOf(
        rest.GET('/api/v1/chats/{chat_id}/messages/{message_id}/diff', {
          params: { path: { chat_id: chatId, message_id: messageId } },
          signal,
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  })

/** What a version answered in the reader's chats, newest first, page by page. */
export const useReplies = (agentId: string, version: number) =>
  useInfiniteQuery({
    queryKey: [...keys.version(agentId, version), 'replies'],
    queryFn: ({ pageParam, signal }) =>
      answerOf(
        rest.GET('/api/v1/agents/{agent_id}/versions/{number}/replies', {
          params: { path: { agent_id: agentId, number: version }, query: { limit: 20, ...pageQuery(pageParam) } },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: page => page.next,
    // The server sends no frame when they change.
    staleTime: 0,
  })

/** `base_version`: the production that is replaced. `chat_id`: the chat that gets a message about it. */
export const restoreVersion = (
  agentId: string,
  version: number,
  body: BodyOf<'/api/v1/agents/{agent_id}/versions/{number}/restore', 'post'>,
) =>
  answerOf(
    rest.POST('/api/v1/agents/{agent_id}/versions/{number}/restore', {
      params: { path: { agent_id: agentId, number: version } },
      body,
    }),
  )

export type FileFormat = 'yaml' | 'json'

export const exportUrl = (agentId: string, version: number, format: FileFormat) =>
  urlOf('/api/v1/agents/{agent_id}/file', { path: { agent_id: agentId }, query: { format, version } })

/** `is_trial`: nothing is made; the answer says what would be. */
export const importAgent = (
  workspaceId: string,
  body: BodyOf<'/api/v1/workspaces/{workspace_id}/agents/import', 'post'>,
) =>
  answerOf(
    rest.POST('/api/v1/workspaces/{workspace_id}/agents/import', {
      params: { path: { workspace_id: workspaceId } },
      body,
    }),
  )
