/** The versions of an agent, what each answered, and agents as files. */
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { get, post } from '../client'
import type { ImportRow, ListedSuggestionRow, Page, ReplyRow, SpecRow } from '../types'
import { keys } from './keys'
import { all } from './pages'

/** Every version, newest first; read again when another one is production. */
export const useVersions = (agentId: string, production: string) =>
  useQuery({
    queryKey: [...keys.versions(agentId), 'all', production],
    queryFn: ({ signal }) => all<SpecRow>(`/agents/${agentId}/versions`, signal),
    placeholderData: keepPreviousData,
  })

/** How many accepted suggestions went into each version of an agent, by its number. */
export const useSuggestionsIn = (workspaceId: string, agentId: string, production: string) =>
  useQuery({
    queryKey: [...keys.suggestions(workspaceId), 'went into', agentId, production],
    queryFn: async ({ signal }) => {
      const path = `/workspaces/${workspaceId}/suggestions?state=accepted&agent_id=${agentId}`
      const counts = new Map<number, number>()
      for (const { saved_as } of await all<ListedSuggestionRow>(path, signal))
        if (saved_as !== null) counts.set(saved_as, (counts.get(saved_as) ?? 0) + 1)
      return counts
    },
    placeholderData: keepPreviousData,
  })

/** The text behind a stamp: a version, or what was applied in a chat of the reader's. It never changes. */
export const useSpec = (agentId: string, specId: string) =>
  useQuery({
    queryKey: [...keys.agent(agentId), 'specs', specId],
    queryFn: () => get<SpecRow>(`/agents/${agentId}/specs/${specId}`),
    staleTime: Number.POSITIVE_INFINITY,
  })

/** What a version answered in the reader's chats, newest first, page by page. */
export const useReplies = (agentId: string, version: number) =>
  useInfiniteQuery({
    queryKey: [...keys.version(agentId, version), 'replies'],
    queryFn: ({ pageParam, signal }) =>
      get<Page<ReplyRow>>(
        `/agents/${agentId}/versions/${version}/replies?limit=20${pageParam ? `&cursor=${encodeURIComponent(pageParam)}` : ''}`,
        signal,
      ),
    initialPageParam: '',
    getNextPageParam: page => page.next,
    // No bell tells of them.
    staleTime: 0,
  })

interface Restoring {
  /** The production that is replaced. */
  base_version: number
  message: string
  /** Where it is told. */
  chat_id: string | null
}

export const restoreVersion = (agentId: string, version: number, body: Restoring) =>
  post<SpecRow>(`/agents/${agentId}/versions/${version}/restore`, body)

export type FileFormat = 'yaml' | 'json'

export const exportAddress = (agentId: string, version: number, format: FileFormat) =>
  `/api/v1/agents/${agentId}/file?format=${format}&version=${version}`

interface Importing {
  text: string
  name?: string
  /** Nothing is made; the answer says what would be. */
  is_trial: boolean
}

export const importAgent = (workspaceId: string, body: Importing) =>
  post<ImportRow>(`/workspaces/${workspaceId}/agents/import`, body)
