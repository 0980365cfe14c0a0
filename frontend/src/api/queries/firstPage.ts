/**
 * Queries of the first page about members, suggestions and public agents. They are apart from the others on these, because a module is
 * loaded as a whole.
 */
import { useQuery } from '@tanstack/react-query'
import { ApiError, rest, unwrap } from '../client'
import { useAction } from './action'
import { keys } from './keys'
import { fetchAllPages } from './pages'

export const useMembers = (id: string) =>
  useQuery({
    queryKey: keys.members(id),
    queryFn: ({ signal }) =>
      fetchAllPages(query =>
        unwrap(
          rest.GET('/api/v1/workspaces/{workspace_id}/members', {
            params: { path: { workspace_id: id }, query },
            signal,
          }),
        ),
      ),
  })

/** Counts the open suggestions of a workspace, among others. */
export const useSuggestionCount = (workspaceId: string) =>
  useQuery({
    queryKey: [...keys.suggestions(workspaceId), 'count'],
    queryFn: ({ signal }) =>
      unwrap(
        rest.GET('/api/v1/workspaces/{workspace_id}/suggestions/count', {
          params: { path: { workspace_id: workspaceId } },
          signal,
        }),
      ),
  })

/** Reads a suggestion for its system message in a chat. */
export const useSuggestionRow = (workspaceId: string, id: string) =>
  useQuery({
    queryKey: [...keys.suggestions(workspaceId), 'row', id],
    queryFn: async () =>
      (await unwrap(rest.GET('/api/v1/suggestions/{suggestion_id}', { params: { path: { suggestion_id: id } } })))
        .suggestion,
  })

/** Asks the model again to summarize a suggestion. */
export const useSummarize = () =>
  useAction({
    mutationFn: (id: string) =>
      unwrap(rest.POST('/api/v1/suggestions/{suggestion_id}/summarize', { params: { path: { suggestion_id: id } } })),
  })

/**
 * A public agent that was taken down. `originId`: the original, for those who may publish it anew. `newHandle` and `newName`: the
 * public agent that was made of the original since then, or null.
 */
export interface TakenDownAgent {
  name: string
  reason: string
  isByOperator: boolean
  takenDownAt: string
  originId: string | null
  originWorkspaceId: string | null
  newHandle: string | null
  newName: string | null
}

const toText = (value: unknown) => (typeof value === 'string' ? value : '')
const toTextOrNull = (value: unknown) => (typeof value === 'string' ? value : null)

/** Returns the facts of an error with the code `taken_down`, or null for any other value. */
export function readTakenDown(error: unknown): TakenDownAgent | null {
  if (!(error instanceof ApiError) || error.code !== 'taken_down') return null
  const { data } = error
  return {
    name: toText(data['name']),
    reason: toText(data['reason']),
    isByOperator: data['by_operator'] === true,
    takenDownAt: toText(data['taken_down_at']),
    originId: toTextOrNull(data['origin_id']),
    originWorkspaceId: toTextOrNull(data['origin_workspace_id']),
    newHandle: toTextOrNull(data['new_handle']),
    newName: toTextOrNull(data['new_name']),
  }
}
