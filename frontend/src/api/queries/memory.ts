import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { rest, unwrap } from '../client'
import type { NoteRow } from '../types'
import { useAction } from './action'
import { keys } from './keys'
import { buildPageQuery } from './pages'

export interface NotesFilter {
  q: string
  which: 'all' | 'people' | 'never_used'
  chatId: string | null
}

export const useMemory = (workspaceId: string, agentId: string) =>
  useQuery({
    queryKey: keys.agentMemory(workspaceId, agentId),
    queryFn: ({ signal }) =>
      unwrap(rest.GET('/api/v1/agents/{agent_id}/memory', { params: { path: { agent_id: agentId } }, signal })),
  })

export const useNotes = (workspaceId: string, agentId: string, { q, which, chatId }: NotesFilter) =>
  useInfiniteQuery({
    queryKey: [...keys.agentMemory(workspaceId, agentId), 'notes', q, which, chatId],
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        rest.GET('/api/v1/agents/{agent_id}/notes', {
          params: {
            path: { agent_id: agentId },
            query: { which, ...(q ? { q } : {}), ...(chatId ? { chat_id: chatId } : {}), ...buildPageQuery(pageParam) },
          },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: page => page.next,
  })

export const useHistory = (workspaceId: string, agentId: string) =>
  useInfiniteQuery({
    queryKey: [...keys.agentMemory(workspaceId, agentId), 'history'],
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        rest.GET('/api/v1/agents/{agent_id}/history', {
          params: { path: { agent_id: agentId }, query: buildPageQuery(pageParam) },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: page => page.next,
  })

export function useClearHistory(workspaceId: string, agentId: string) {
  const client = useQueryClient()
  return useAction({
    mutationFn: () =>
      unwrap(rest.POST('/api/v1/agents/{agent_id}/history/clear', { params: { path: { agent_id: agentId } } })),
    onSettled: () => client.invalidateQueries({ queryKey: keys.agentMemory(workspaceId, agentId) }),
  })
}

/** Actions on the memory of an agent; each reads it again. Raise `ApiError`. */
export function useMemoryActions(workspaceId: string, agentId: string) {
  const client = useQueryClient()
  const refresh = () => client.invalidateQueries({ queryKey: keys.agentMemory(workspaceId, agentId) })
  const thenRefresh = async <T>(request: Promise<T>): Promise<T> => {
    try {
      return await request
    } finally {
      await refresh()
    }
  }
  return {
    createNote: (text: string, chatId: string | null) =>
      thenRefresh(
        unwrap(
          rest.POST('/api/v1/agents/{agent_id}/notes', {
            params: { path: { agent_id: agentId } },
            body: { text, topic: '', chat_id: chatId },
          }),
        ),
      ),
    editNote: (note: NoteRow, change: { text?: string; scope?: NoteRow['scope'] }) =>
      thenRefresh(
        unwrap(
          rest.PATCH('/api/v1/notes/{note_id}', {
            params: { path: { note_id: note.id } },
            body: { revision: note.revision, ...change },
          }),
        ),
      ),
    forgetNote: (note: NoteRow) =>
      thenRefresh(
        unwrap(
          rest.POST('/api/v1/notes/{note_id}/forget', {
            params: { path: { note_id: note.id } },
            body: { revision: note.revision },
          }),
        ),
      ),
    restoreNote: (id: string) =>
      thenRefresh(unwrap(rest.POST('/api/v1/notes/{note_id}/restore', { params: { path: { note_id: id } } }))),
    undoClearing: (id: string) =>
      thenRefresh(unwrap(rest.POST('/api/v1/clearings/{clearing_id}/undo', { params: { path: { clearing_id: id } } }))),
  }
}
