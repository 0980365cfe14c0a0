import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { answerOf, rest } from '../client'
import type { ListedSuggestionRow, MergeRow } from '../types'
import { useAction } from './action'
import { keys } from './keys'
import { fetchAllPages, pageQuery } from './pages'
import { drafts } from './workshop'

export type SuggestionState = ListedSuggestionRow['state']

interface SuggestionFilter {
  state: SuggestionState
  agentId?: string | undefined
  authorId?: string | undefined
}

const queryOf = ({ state, agentId, authorId }: SuggestionFilter) => ({
  state,
  ...(agentId ? { agent_id: agentId } : {}),
  ...(authorId ? { author_id: authorId } : {}),
})

/** Every key starts with `keys.suggestions`, so that they are invalidated together. */
const suggestionsKey = (workspaceId: string, ...rest: readonly unknown[]) => [...keys.suggestions(workspaceId), ...rest]

export const useSuggestions = (workspaceId: string, filter: SuggestionFilter) =>
  useInfiniteQuery({
    queryKey: suggestionsKey(workspaceId, 'list', filter),
    queryFn: ({ pageParam, signal }) =>
      answerOf(
        rest.GET('/api/v1/workspaces/{workspace_id}/suggestions', {
          params: { path: { workspace_id: workspaceId }, query: { ...queryOf(filter), ...pageQuery(pageParam) } },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: page => page.next,
  })

export const useSuggestionCount = (workspaceId: string) =>
  useQuery({
    queryKey: suggestionsKey(workspaceId, 'count'),
    queryFn: ({ signal }) =>
      answerOf(
        rest.GET('/api/v1/workspaces/{workspace_id}/suggestions/count', {
          params: { path: { workspace_id: workspaceId } },
          signal,
        }),
      ),
  })

export const useSuggestion = (workspaceId: string, id: string) =>
  useQuery({
    queryKey: suggestionsKey(workspaceId, 'one', id),
    queryFn: ({ signal }) =>
      answerOf(rest.GET('/api/v1/suggestions/{suggestion_id}', { params: { path: { suggestion_id: id } }, signal })),
  })

export const useMerge = (workspaceId: string, id: string) =>
  useQuery({
    queryKey: suggestionsKey(workspaceId, 'merge', id),
    queryFn: ({ signal }) =>
      answerOf(rest.GET('/api/v1/merges/{merge_id}', { params: { path: { merge_id: id } }, signal })),
  })

/** The merges under way. */
export const useActiveMerges = (workspaceId: string) =>
  useQuery({
    queryKey: suggestionsKey(workspaceId, 'merges'),
    queryFn: ({ signal }) =>
      fetchAllPages(page =>
        answerOf(
          rest.GET('/api/v1/workspaces/{workspace_id}/merges', {
            params: { path: { workspace_id: workspaceId }, query: { state: 'active', ...page } },
            signal,
          }),
        ),
      ),
  })

/** Who writes the agent in that chat now, if anybody; asked before a draft is to be opened there. */
export const useChatDraft = (chatId: string | null, agentId: string) =>
  useQuery({
    queryKey: ['chat', chatId, 'draft', agentId],
    queryFn: () => drafts.read(chatId ?? '', agentId),
    enabled: chatId !== null,
    retry: false,
    staleTime: 0,
  })

/** An action on a suggestion or a merge, after which all of them are read again. */
function useSuggestionAction<Result, Input>(workspaceId: string, action: (input: Input) => Promise<Result>) {
  const client = useQueryClient()
  return useAction<Result, Input>({
    mutationFn: action,
    onSettled: () => client.invalidateQueries({ queryKey: keys.suggestions(workspaceId) }),
  })
}

/** Rejects some, one after the other; what went through stays so when a later one is refused. */
export const useReject = (workspaceId: string) =>
  useSuggestionAction(workspaceId, async ({ ids, reason }: { ids: readonly string[]; reason: string }) => {
    for (const id of ids)
      await rest.POST('/api/v1/suggestions/{suggestion_id}/reject', {
        params: { path: { suggestion_id: id } },
        body: { reason },
      })
  })

export const useWithdraw = (workspaceId: string) =>
  useSuggestionAction(workspaceId, (id: string) =>
    answerOf(rest.POST('/api/v1/suggestions/{suggestion_id}/withdraw', { params: { path: { suggestion_id: id } } })),
  )

interface NewMerge {
  /** Made by the client: asking twice merges once. */
  id: string
  agentId: string
  suggestionIds: readonly string[]
  chatId: string
}

export function startMerge({ id, agentId, suggestionIds, chatId }: NewMerge): Promise<MergeRow> {
  const [only, ...others] = suggestionIds
  if (only && others.length === 0)
    return answerOf(
      rest.POST('/api/v1/suggestions/{suggestion_id}/accept', {
        params: { path: { suggestion_id: only } },
        body: { id, chat_id: chatId },
      }),
    )
  return answerOf(
    rest.POST('/api/v1/agents/{agent_id}/merges', {
      params: { path: { agent_id: agentId } },
      body: { id, suggestion_ids: [...suggestionIds], chat_id: chatId },
    }),
  )
}

export const useStopMerge = (workspaceId: string) =>
  useSuggestionAction(workspaceId, (id: string) =>
    answerOf(rest.POST('/api/v1/merges/{merge_id}/stop', { params: { path: { merge_id: id } } })),
  )

export const useRetryMerge = (workspaceId: string) =>
  useSuggestionAction(workspaceId, (id: string) =>
    answerOf(rest.POST('/api/v1/merges/{merge_id}/retry', { params: { path: { merge_id: id } } })),
  )
