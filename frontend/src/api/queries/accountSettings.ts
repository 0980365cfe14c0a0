/** The settings of the signed-in person's account, with its API tokens. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { rest, unwrap } from '../client'
import type { BodyOf } from '../types'
import { useAction } from './action'
import { keys } from './keys'
import { fetchAllPages } from './pages'

/** Starts a change of email. The change takes effect when it is confirmed by the link that is sent to the new address. */
export function useStartEmailChange() {
  const client = useQueryClient()
  return useAction({
    mutationFn: (body: BodyOf<'/api/v1/me/email', 'post'>) => unwrap(rest.POST('/api/v1/me/email', { body })),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.me }),
  })
}

export function useCancelEmailChange() {
  const client = useQueryClient()
  return useAction({
    mutationFn: () => rest.DELETE('/api/v1/me/email'),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.me }),
  })
}

/** Ends all other sessions of this person. */
export const useEndSessions = () => useAction({ mutationFn: () => rest.DELETE('/api/v1/me/sessions') })

export const useTokens = () =>
  useQuery({
    queryKey: keys.apiTokens,
    queryFn: ({ signal }) =>
      fetchAllPages(query => unwrap(rest.GET('/api/v1/me/tokens', { params: { query }, signal }))),
  })

/** When operators have viewed as this person. */
export const useViewings = () =>
  useQuery({
    queryKey: keys.viewings,
    queryFn: ({ signal }) =>
      fetchAllPages(query => unwrap(rest.GET('/api/v1/me/viewings', { params: { query }, signal }))),
  })

export type TokenInput = Required<BodyOf<'/api/v1/me/tokens', 'post'>>

export function useCreateToken() {
  const client = useQueryClient()
  return useAction({
    mutationFn: (body: TokenInput) => unwrap(rest.POST('/api/v1/me/tokens', { body })),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.apiTokens }),
  })
}

export function useRevokeToken() {
  const client = useQueryClient()
  return useAction({
    mutationFn: (id: string) => rest.DELETE('/api/v1/me/tokens/{token_id}', { params: { path: { token_id: id } } }),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.apiTokens }),
  })
}

export function useChangeMe() {
  const client = useQueryClient()
  // Not `useAction`: name, handle, picture and language share it, and a second change would be dropped while the first is sent.
  return useMutation({
    mutationFn: (body: BodyOf<'/api/v1/me', 'patch'>) => unwrap(rest.PATCH('/api/v1/me', { body })),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.me }),
  })
}
