/** The settings of a chat, its participants and its links. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { rest, unwrap } from '../client'
import type { BodyOf, ParticipantRow } from '../types'
import { useAction } from './action'
import { keys } from './keys'
import { fetchAllPages } from './pages'

export const renameChat = (id: string, title: string) =>
  unwrap(rest.PATCH('/api/v1/chats/{chat_id}', { params: { path: { chat_id: id } }, body: { title } }))
/** Hides a direct chat from the list until its next message. */
export const hideChat = (id: string) =>
  rest.PUT('/api/v1/chats/{chat_id}/hidden', { params: { path: { chat_id: id } } })
/** Mutes a chat for this person until a time; null: for good. */
export const muteChat = (id: string, until: string | null) =>
  rest.PUT('/api/v1/chats/{chat_id}/muted', { params: { path: { chat_id: id } }, body: { until } })
export const unmuteChat = (id: string) =>
  rest.DELETE('/api/v1/chats/{chat_id}/muted', { params: { path: { chat_id: id } } })
/** Moves a chat to the archive of this person until they are mentioned in it. */
export const archiveChat = (id: string) =>
  rest.PUT('/api/v1/chats/{chat_id}/archived', { params: { path: { chat_id: id } } })
export const restoreChat = (id: string) =>
  rest.DELETE('/api/v1/chats/{chat_id}/archived', { params: { path: { chat_id: id } } })
export const addToChat = (id: string, actorId: string) =>
  unwrap(
    rest.POST('/api/v1/chats/{chat_id}/participants', {
      params: { path: { chat_id: id } },
      body: { actor_id: actorId },
    }),
  )
export const setResponse = (id: string, actorId: string, response: ParticipantRow['response']) =>
  unwrap(
    rest.PATCH('/api/v1/chats/{chat_id}/participants/{actor_id}', {
      params: { path: { chat_id: id, actor_id: actorId } },
      body: { response },
    }),
  )

export const useLinks = (chatId: string, enabled = true) =>
  useQuery({
    queryKey: keys.links(chatId),
    queryFn: ({ signal }) =>
      fetchAllPages(query =>
        unwrap(rest.GET('/api/v1/chats/{chat_id}/links', { params: { path: { chat_id: chatId }, query }, signal })),
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
      unwrap(rest.POST('/api/v1/chats/{chat_id}/links', { params: { path: { chat_id: chatId } }, body })),
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
    queryFn: () => unwrap(rest.GET('/api/v1/join/{token}', { params: { path: { token } } })),
    retry: false,
  })

export const joinByLink = (token: string) => unwrap(rest.POST('/api/v1/join/{token}', { params: { path: { token } } }))
