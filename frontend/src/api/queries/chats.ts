import { useQuery, useQueryClient } from '@tanstack/react-query'
import { answerOf, rest } from '../client'
import type { BodyOf, ChatActivity, ChatSummaryRow } from '../types'
import { useAction } from './action'
import { keys } from './keys'
import { fetchAllPages } from './pages'

export const useChats = (workspaceId: string) =>
  useQuery({
    queryKey: keys.chats(workspaceId),
    queryFn: ({ signal }) =>
      fetchAllPages(query =>
        answerOf(
          rest.GET('/api/v1/workspaces/{workspace_id}/chats', {
            params: { path: { workspace_id: workspaceId }, query },
            signal,
          }),
        ),
      ),
  })

/**
 * The list after a message or a read cursor changed one of its chats; the most recently active chat comes first.
 * Null when that chat is not in the list.
 */
export function withActivity(
  chats: readonly ChatSummaryRow[],
  { chat_id, unread, mentioned, last_read_seq, last_message }: ChatActivity,
): ChatSummaryRow[] | null {
  if (!chats.some(each => each.chat.id === chat_id)) return null
  return chats
    .map(each => (each.chat.id === chat_id ? { ...each, unread, mentioned, last_read_seq, last_message } : each))
    .sort((a, b) => Date.parse(lastActivityAt(b)) - Date.parse(lastActivityAt(a)))
}

const lastActivityAt = ({ chat, last_message }: ChatSummaryRow) => last_message?.created_at ?? chat.created_at

export const createChat = (workspaceId: string, body: BodyOf<'/api/v1/workspaces/{workspace_id}/chats', 'post'>) =>
  answerOf(
    rest.POST('/api/v1/workspaces/{workspace_id}/chats', { params: { path: { workspace_id: workspaceId } }, body }),
  )

export const renameChat = (id: string, title: string) =>
  answerOf(rest.PATCH('/api/v1/chats/{chat_id}', { params: { path: { chat_id: id } }, body: { title } }))
export const addToChat = (id: string, actorId: string) =>
  answerOf(
    rest.POST('/api/v1/chats/{chat_id}/members', { params: { path: { chat_id: id } }, body: { actor_id: actorId } }),
  )
export const removeFromChat = (id: string, actorId: string) =>
  rest.DELETE('/api/v1/chats/{chat_id}/members/{actor_id}', { params: { path: { chat_id: id, actor_id: actorId } } })
export const setWake = (id: string, actorId: string, wake: 'mention' | 'always') =>
  answerOf(
    rest.PATCH('/api/v1/chats/{chat_id}/members/{actor_id}', {
      params: { path: { chat_id: id, actor_id: actorId } },
      body: { wake },
    }),
  )

// --- messages ---------------------------------------------------------------------------------------------------

export type NewMessage = BodyOf<'/api/v1/chats/{chat_id}/messages', 'post'>

export const postMessage = (chatId: string, body: NewMessage) =>
  answerOf(rest.POST('/api/v1/chats/{chat_id}/messages', { params: { path: { chat_id: chatId } }, body }))

const readMessages = (chatId: string, query: { before?: number; after?: number; around?: string; limit: number }) =>
  answerOf(rest.GET('/api/v1/chats/{chat_id}/messages', { params: { path: { chat_id: chatId }, query } }))

export const readOlder = (chatId: string, before: number, limit = 50) => readMessages(chatId, { before, limit })
/** A part of the log: after a place, or around a message. Refused as `not_found` when there is no such message. */
export const readNewer = (chatId: string, after: number, limit = 50) => readMessages(chatId, { after, limit })
export const readAround = (chatId: string, messageId: string, limit = 50) =>
  readMessages(chatId, { around: messageId, limit })

export const previewWakes = async (chatId: string, body: BodyOf<'/api/v1/chats/{chat_id}/wakes', 'post'>) =>
  (await answerOf(rest.POST('/api/v1/chats/{chat_id}/wakes', { params: { path: { chat_id: chatId } }, body }))).results
export const markRead = (chatId: string, seq: number) =>
  answerOf(rest.PUT('/api/v1/chats/{chat_id}/read', { params: { path: { chat_id: chatId } }, body: { seq } }))

export const stopRun = (id: string) =>
  answerOf(rest.POST('/api/v1/runs/{run_id}/stop', { params: { path: { run_id: id } } }))
export const retryRun = (id: string) =>
  answerOf(rest.POST('/api/v1/runs/{run_id}/retry', { params: { path: { run_id: id } } }))

// --- links ------------------------------------------------------------------------------------------------------

export const useLinks = (chatId: string, enabled = true) =>
  useQuery({
    queryKey: keys.links(chatId),
    queryFn: ({ signal }) =>
      fetchAllPages(query =>
        answerOf(rest.GET('/api/v1/chats/{chat_id}/links', { params: { path: { chat_id: chatId }, query }, signal })),
      ),
    enabled,
    // The server sends no frame when a link is used.
    staleTime: 0,
    refetchOnMount: 'always',
  })

export function useCreateLink(chatId: string) {
  const client = useQueryClient()
  return useAction({
    mutationFn: (body: BodyOf<'/api/v1/chats/{chat_id}/links', 'post'>) =>
      answerOf(rest.POST('/api/v1/chats/{chat_id}/links', { params: { path: { chat_id: chatId } }, body })),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.links(chatId) }),
  })
}

export function useRevokeLink(chatId: string) {
  const client = useQueryClient()
  return useAction({
    mutationFn: (id: string) => rest.DELETE('/api/v1/links/{link_id}', { params: { path: { link_id: id } } }),
    onSettled: () => client.invalidateQueries({ queryKey: keys.links(chatId) }),
  })
}

export const useJoinOffer = (token: string) =>
  useQuery({
    queryKey: keys.join(token),
    queryFn: () => answerOf(rest.GET('/api/v1/join/{token}', { params: { path: { token } } })),
    retry: false,
  })

export const join = (token: string) => answerOf(rest.POST('/api/v1/join/{token}', { params: { path: { token } } }))
