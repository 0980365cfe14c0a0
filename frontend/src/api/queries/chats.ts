import { useQuery, useQueryClient } from '@tanstack/react-query'
import { del, get, patch, post, put } from '../client'
import type { ChatSummaryRow, Joined, JoinOffer, LinkRow, MessageRow, Page, Role, RunRow, Wake } from '../types'
import { useDeed } from './deed'
import { keys } from './keys'
import { all } from './pages'

export const useChats = (workspaceId: string) =>
  useQuery({
    queryKey: keys.chats(workspaceId),
    queryFn: ({ signal }) => all<ChatSummaryRow>(`/workspaces/${workspaceId}/chats`, signal),
  })

export const createChat = (workspaceId: string, chat: { title: string; member_ids: string[] }) =>
  post<ChatSummaryRow>(`/workspaces/${workspaceId}/chats`, chat)

export const renameChat = (id: string, title: string) => patch<unknown>(`/chats/${id}`, { title })
export const addToChat = (id: string, actorId: string) => post<unknown>(`/chats/${id}/members`, { actor_id: actorId })
export const removeFromChat = (id: string, actorId: string) => del(`/chats/${id}/members/${actorId}`)
export const setWake = (id: string, actorId: string, wake: 'mention' | 'always') =>
  patch<unknown>(`/chats/${id}/members/${actorId}`, { wake })

// --- messages ---------------------------------------------------------------------------------------------------

export interface NewMessage {
  id: string
  text: string
  reply_to?: string
  wake: 'auto' | 'nobody'
}

export const postMessage = (chatId: string, message: NewMessage) =>
  post<MessageRow>(`/chats/${chatId}/messages`, message)
export const readOlder = (chatId: string, before: number, limit = 50) =>
  get<Page<MessageRow>>(`/chats/${chatId}/messages?before=${before}&limit=${limit}`)
export const whoWakes = async (chatId: string, message: { text: string; reply_to?: string }) =>
  (await post<Page<Wake>>(`/chats/${chatId}/wakes`, message)).results
export const markRead = (chatId: string, seq: number) => put<unknown>(`/chats/${chatId}/read`, { seq })

export const stopRun = (id: string) => post<RunRow>(`/runs/${id}/stop`)
export const retryRun = (id: string) => post<RunRow>(`/runs/${id}/retry`)

// --- links ------------------------------------------------------------------------------------------------------

export const useLinks = (chatId: string, enabled = true) =>
  useQuery({
    queryKey: keys.links(chatId),
    queryFn: ({ signal }) => all<LinkRow>(`/chats/${chatId}/links`, signal),
    enabled,
    // How often a link was used is told by no bell.
    staleTime: 0,
    refetchOnMount: 'always',
  })

export function useMakeLink(chatId: string) {
  const client = useQueryClient()
  return useDeed({
    mutationFn: (link: { role: Role; expires_in_hours: number }) => post<LinkRow>(`/chats/${chatId}/links`, link),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.links(chatId) }),
  })
}

export function useRevokeLink(chatId: string) {
  const client = useQueryClient()
  return useDeed({
    mutationFn: (id: string) => del(`/links/${id}`),
    onSettled: () => client.invalidateQueries({ queryKey: keys.links(chatId) }),
  })
}

export const useJoinOffer = (token: string) =>
  useQuery({ queryKey: keys.join(token), queryFn: () => get<JoinOffer>(`/join/${token}`), retry: false })

export const join = (token: string) => post<Joined>(`/join/${token}`)
