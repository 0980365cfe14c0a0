import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ApiError, answerOf, rest, sendAccountRequest } from '../client'
import type { BodyOf, Me } from '../types'
import { useAction } from './action'
import { keys } from './keys'
import { fetchAllPages } from './pages'

/** Null: nobody is signed in. */
async function readMe(): Promise<Me | null> {
  try {
    return await answerOf(rest.GET('/api/v1/me'))
  } catch (error) {
    if (error instanceof ApiError && (error.status === 401 || error.code === 'not_signed_in')) return null
    throw error
  }
}

export const meQuery = queryOptions({ queryKey: keys.me, queryFn: readMe, staleTime: 60_000 })

export const useMe = () => useQuery(meQuery)

const account = '/_allauth/browser/v1'

/** Who may sign up, and whether a new address is confirmed first. */
export const useSignUpMode = () =>
  useQuery({ queryKey: keys.signUp, queryFn: () => answerOf(rest.GET('/api/v1/sign-up')), staleTime: 60_000 })

export const confirmEmail = (key: string) => answerOf(rest.POST('/api/v1/email-confirmations', { body: { key } }))

/** Starts a change of address: it counts when the link that is sent to it is opened. */
export function useStartEmailChange() {
  const client = useQueryClient()
  return useAction({
    mutationFn: (body: BodyOf<'/api/v1/me/email', 'post'>) => answerOf(rest.POST('/api/v1/me/email', { body })),
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

interface SignUp {
  name: string
  email: string
  password: string
  language: string
  /** The token of an invite link, where one is needed. */
  invitation?: string
}

export const signUp = (form: SignUp) => sendAccountRequest<unknown>('POST', `${account}/auth/signup`, form)
export const signIn = (form: { email: string; password: string }) =>
  sendAccountRequest<unknown>('POST', `${account}/auth/login`, form)

/** Ends the session. The service answers 401 to say that nobody is signed in any more. */
export async function signOut(): Promise<void> {
  try {
    await sendAccountRequest<unknown>('DELETE', `${account}/auth/session`)
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 401)) throw error
  }
}

/** Asks for a link by which a new password is set. Answers the same whether anybody has the address. */
export async function requestPasswordReset(email: string): Promise<{ byMail: boolean }> {
  const answer = await sendAccountRequest<{ data: { by_mail: boolean } }>('POST', `${account}/auth/password/request`, {
    email,
  })
  return { byMail: answer.data.by_mail }
}

/** Whether the key of such a link is good. */
export async function isResetKeyValid(key: string): Promise<boolean> {
  const headers = { Accept: 'application/json', 'X-Password-Reset-Key': key }
  const answer = await fetch(`${account}/auth/password/reset`, { headers, credentials: 'same-origin' })
  return answer.status !== 400
}

/** Sets the password by a link, and signs in. */
export const resetPassword = (key: string, password: string) =>
  sendAccountRequest<unknown>('POST', `${account}/auth/password/reset`, { key, password })

export const changePassword = (current_password: string, new_password: string) =>
  sendAccountRequest<unknown>('POST', `${account}/account/password/change`, { current_password, new_password })

/** Signs out everywhere but here. */
export const useEndSessions = () => useAction({ mutationFn: () => rest.DELETE('/api/v1/me/sessions') })

export const useTokens = () =>
  useQuery({
    queryKey: keys.apiTokens,
    queryFn: ({ signal }) =>
      fetchAllPages(query => answerOf(rest.GET('/api/v1/me/tokens', { params: { query }, signal }))),
  })

export type TokenInput = Required<BodyOf<'/api/v1/me/tokens', 'post'>>

export function useCreateToken() {
  const client = useQueryClient()
  return useAction({
    mutationFn: (body: TokenInput) => answerOf(rest.POST('/api/v1/me/tokens', { body })),
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
  return useMutation({
    mutationFn: (body: BodyOf<'/api/v1/me', 'patch'>) => answerOf(rest.PATCH('/api/v1/me', { body })),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.me }),
  })
}
