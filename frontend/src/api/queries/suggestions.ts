import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { get, post } from '../client'
import type { ListedSuggestionRow, MergeRow, Page, SuggestionDetailRow, SuggestionRow } from '../types'
import { useDeed } from './deed'
import { keys } from './keys'
import { all } from './pages'
import { drafts } from './workshop'

export type SuggestionState = ListedSuggestionRow['state']

export interface SuggestionFilter {
  state: SuggestionState
  agentId?: string | undefined
  authorId?: string | undefined
}

function listPath(workspaceId: string, { state, agentId, authorId }: SuggestionFilter, cursor: string): string {
  const query = new URLSearchParams({ state })
  if (agentId) query.set('agent_id', agentId)
  if (authorId) query.set('author_id', authorId)
  if (cursor) query.set('cursor', cursor)
  return `/workspaces/${workspaceId}/suggestions?${query}`
}

/** Everything here hangs below `keys.suggestions`: one bell rings it all. */
const below = (workspaceId: string, ...rest: readonly unknown[]) => [...keys.suggestions(workspaceId), ...rest]

export const useSuggestions = (workspaceId: string, filter: SuggestionFilter) =>
  useInfiniteQuery({
    queryKey: below(workspaceId, 'list', filter),
    queryFn: ({ pageParam, signal }) =>
      get<Page<ListedSuggestionRow>>(listPath(workspaceId, filter, pageParam), signal),
    initialPageParam: '',
    getNextPageParam: page => page.next,
  })

export const useSuggestionCount = (workspaceId: string) =>
  useQuery({
    queryKey: below(workspaceId, 'count'),
    queryFn: ({ signal }) => get<{ pending: number }>(`/workspaces/${workspaceId}/suggestions/count`, signal),
  })

export const useSuggestion = (workspaceId: string, id: string) =>
  useQuery({
    queryKey: below(workspaceId, 'one', id),
    queryFn: ({ signal }) => get<SuggestionDetailRow>(`/suggestions/${id}`, signal),
  })

export const useMerge = (workspaceId: string, id: string) =>
  useQuery({
    queryKey: below(workspaceId, 'merge', id),
    queryFn: ({ signal }) => get<MergeRow>(`/merges/${id}`, signal),
  })

/** The merges under way. */
export const useActiveMerges = (workspaceId: string) =>
  useQuery({
    queryKey: below(workspaceId, 'merges'),
    queryFn: ({ signal }) => all<MergeRow>(`/workspaces/${workspaceId}/merges?state=active`, signal),
  })

/** Who writes the agent in that chat now, if anybody; asked before a draft is to be opened there. */
export const useDraftThere = (chatId: string | null, agentId: string) =>
  useQuery({
    queryKey: ['chat', chatId, 'draft', agentId],
    queryFn: () => drafts.read(chatId ?? '', agentId),
    enabled: chatId !== null,
    retry: false,
    staleTime: 0,
  })

/** A deed on a suggestion or a merge, after which all of them are read again. */
function useSuggestionDeed<Result, Input>(workspaceId: string, deed: (input: Input) => Promise<Result>) {
  const client = useQueryClient()
  return useDeed<Result, Input>({
    mutationFn: deed,
    onSettled: () => client.invalidateQueries({ queryKey: keys.suggestions(workspaceId) }),
  })
}

/** Rejects some, one after the other; what went through stays so when a later one is refused. */
export const useReject = (workspaceId: string) =>
  useSuggestionDeed(workspaceId, async ({ ids, reason }: { ids: readonly string[]; reason: string }) => {
    for (const id of ids) await post<SuggestionRow>(`/suggestions/${id}/reject`, { reason })
  })

export const useWithdraw = (workspaceId: string) =>
  useSuggestionDeed(workspaceId, (id: string) => post<SuggestionRow>(`/suggestions/${id}/withdraw`))

export interface NewMerge {
  /** Made by the client: asking twice merges once. */
  id: string
  agentId: string
  suggestionIds: readonly string[]
  chatId: string
}

export function startMerge({ id, agentId, suggestionIds, chatId }: NewMerge): Promise<MergeRow> {
  const [only, ...others] = suggestionIds
  if (only && others.length === 0) return post(`/suggestions/${only}/accept`, { id, chat_id: chatId })
  return post(`/agents/${agentId}/merges`, { id, suggestion_ids: suggestionIds, chat_id: chatId })
}

export const useStopMerge = (workspaceId: string) =>
  useSuggestionDeed(workspaceId, (id: string) => post<MergeRow>(`/merges/${id}/stop`))

export const useRetryMerge = (workspaceId: string) =>
  useSuggestionDeed(workspaceId, (id: string) => post<MergeRow>(`/merges/${id}/retry`))
