import { useQuery, useQueryClient } from '@tanstack/react-query'
import { rest, unwrap } from '../client'
import type { BodyOf } from '../types'
import { useAction } from './action'
import { keys } from './keys'

export const useSummary = (chatId: string) =>
  useQuery({
    queryKey: keys.summary(chatId),
    queryFn: ({ signal }) =>
      unwrap(rest.GET('/api/v1/chats/{chat_id}/summary', { params: { path: { chat_id: chatId } }, signal })),
    staleTime: 0,
  })

/** Actions on the summary of a chat. Each returns the changed summary, which replaces the one that is shown. */
export function useSummaryActions(chatId: string) {
  const client = useQueryClient()
  const onSuccess = (summary: unknown) => client.setQueryData(keys.summary(chatId), summary)
  const path = { chat_id: chatId }
  return {
    correct: useAction({
      mutationFn: ({ sentenceId, text }: { sentenceId: string; text: string }) =>
        unwrap(
          rest.PUT('/api/v1/chats/{chat_id}/summary/sentences/{sentence_id}', {
            params: { path: { ...path, sentence_id: sentenceId } },
            body: { text },
          }),
        ),
      onSuccess,
    }),
    undo: useAction({
      mutationFn: (correctionId: string) =>
        unwrap(
          rest.DELETE('/api/v1/chats/{chat_id}/summary/corrections/{correction_id}', {
            params: { path: { ...path, correction_id: correctionId } },
          }),
        ),
      onSuccess,
    }),
    writeAnew: useAction({
      mutationFn: () => unwrap(rest.POST('/api/v1/chats/{chat_id}/summary', { params: { path } })),
      onSuccess,
    }),
  }
}

export const useContextSettings = (workspaceId: string) =>
  useQuery({
    queryKey: keys.contextSettings(workspaceId),
    queryFn: ({ signal }) =>
      unwrap(
        rest.GET('/api/v1/workspaces/{workspace_id}/context', {
          params: { path: { workspace_id: workspaceId } },
          signal,
        }),
      ),
  })

export function useChangeContextSettings(workspaceId: string) {
  const client = useQueryClient()
  return useAction({
    mutationFn: (body: BodyOf<'/api/v1/workspaces/{workspace_id}/context', 'put'>) =>
      unwrap(
        rest.PUT('/api/v1/workspaces/{workspace_id}/context', {
          params: { path: { workspace_id: workspaceId } },
          body,
        }),
      ),
    onSuccess: settings => client.setQueryData(keys.contextSettings(workspaceId), settings),
  })
}

export const useEmbeddingModel = (workspaceId: string) =>
  useQuery({
    queryKey: keys.embeddingModel(workspaceId),
    queryFn: ({ signal }) =>
      unwrap(
        rest.GET('/api/v1/workspaces/{workspace_id}/embedding-model', {
          params: { path: { workspace_id: workspaceId } },
          signal,
        }),
      ),
    staleTime: 0,
  })

/** Sets the embedding model of a workspace, or deletes it (null). */
export function useChangeEmbeddingModel(workspaceId: string) {
  const client = useQueryClient()
  const params = { path: { workspace_id: workspaceId } }
  return useAction({
    mutationFn: async (body: BodyOf<'/api/v1/workspaces/{workspace_id}/embedding-model', 'put'> | null) => {
      if (body) await unwrap(rest.PUT('/api/v1/workspaces/{workspace_id}/embedding-model', { params, body }))
      else await rest.DELETE('/api/v1/workspaces/{workspace_id}/embedding-model', { params })
    },
    onSuccess: () => client.invalidateQueries({ queryKey: keys.embeddingModel(workspaceId) }),
  })
}
