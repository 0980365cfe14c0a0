import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ApiError, api, del, get, patch, post } from '../client'
import type { ApiTokenRow, Me, NewToken } from '../types'
import { useDeed } from './deed'
import { keys } from './keys'
import { all } from './pages'

/** Null: nobody is signed in. */
async function readMe(): Promise<Me | null> {
  try {
    return await get<Me>('/me')
  } catch (error) {
    if (error instanceof ApiError && (error.status === 401 || error.code === 'not_signed_in')) return null
    throw error
  }
}

export const meQuery = queryOptions({ queryKey: keys.me, queryFn: readMe, staleTime: 60_000 })

export const useMe = () => useQuery(meQuery)

const account = '/_allauth/browser/v1'

export interface SignUp {
  name: string
  email: string
  password: string
  language: string
}

export const signUp = (form: SignUp) => api<unknown>('POST', `${account}/auth/signup`, form)
export const signIn = (form: { email: string; password: string }) => api<unknown>('POST', `${account}/auth/login`, form)

/** Ends the session. The service answers 401 to say that nobody is signed in any more. */
export async function signOut(): Promise<void> {
  try {
    await api<unknown>('DELETE', `${account}/auth/session`)
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 401)) throw error
  }
}

/** Asks for a link by which a new password is set. Answers the same whether anybody has the address. */
export async function askForReset(email: string): Promise<{ byMail: boolean }> {
  const answer = await api<{ data: { by_mail: boolean } }>('POST', `${account}/auth/password/request`, { email })
  return { byMail: answer.data.by_mail }
}

/** Whether the key of such a link is good. */
export async function isGoodKey(key: string): Promise<boolean> {
  const headers = { Accept: 'application/json', 'X-Password-Reset-Key': key }
  const answer = await fetch(`${account}/auth/password/reset`, { headers, credentials: 'same-origin' })
  return answer.status !== 400
}

/** Sets the password by a link, and signs in. */
export const resetPassword = (key: string, password: string) =>
  api<unknown>('POST', `${account}/auth/password/reset`, { key, password })

export const changePassword = (current_password: string, new_password: string) =>
  api<unknown>('POST', `${account}/account/password/change`, { current_password, new_password })

/** Signs out everywhere but here. */
export const useEndSessions = () => useDeed({ mutationFn: () => del('/me/sessions') })

export const useTokens = () =>
  useQuery({ queryKey: keys.apiTokens, queryFn: ({ signal }) => all<ApiTokenRow>('/me/tokens', signal) })

export interface TokenWish {
  name: string
  days: 7 | 30 | 90 | 365 | null
}

export function useMakeToken() {
  const client = useQueryClient()
  return useDeed({
    mutationFn: (wish: TokenWish) => post<NewToken>('/me/tokens', wish),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.apiTokens }),
  })
}

export function useRevokeToken() {
  const client = useQueryClient()
  return useDeed({
    mutationFn: (id: string) => del(`/me/tokens/${id}`),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.apiTokens }),
  })
}

export function useChangeMe() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (change: { name?: string; language?: string }) => patch<Me>('/me', change),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.me }),
  })
}
