import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ApiError, rest, sendAccountRequest, unwrap } from '../client'
import type { BodyOf, Me } from '../types'
import { useAction } from './action'
import { keys } from './keys'
import { fetchAllPages } from './pages'

/** Returns the signed-in person, or null if no one is signed in. */
async function readMe(): Promise<Me | null> {
  try {
    return await unwrap(rest.GET('/api/v1/me'))
  } catch (error) {
    if (error instanceof ApiError && (error.status === 401 || error.code === 'not_signed_in')) return null
    throw error
  }
}

export const meQuery = queryOptions({ queryKey: keys.me, queryFn: readMe, staleTime: 60_000 })

export const useMe = () => useQuery(meQuery)

const accountPath = '/_allauth/browser/v1'

/** Who may sign up, and whether a new email must be confirmed first. */
export const useSignUpMode = () =>
  useQuery({ queryKey: keys.signUp, queryFn: () => unwrap(rest.GET('/api/v1/sign-up')), staleTime: 60_000 })

export const confirmEmail = (key: string) => unwrap(rest.POST('/api/v1/email-confirmations', { body: { key } }))

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

interface SignUp {
  name: string
  email: string
  password: string
  language: string
  /** The token of an invite link, if the server requires one. */
  invitation?: string
}

export const signUp = (form: SignUp) => sendAccountRequest<unknown>('POST', `${accountPath}/auth/signup`, form)
export const signIn = (form: { email: string; password: string }) =>
  sendAccountRequest<unknown>('POST', `${accountPath}/auth/login`, form)

/** Ends the session. The service answers 401 to confirm that no one is signed in any more. */
export async function signOut(): Promise<void> {
  try {
    await sendAccountRequest<unknown>('DELETE', `${accountPath}/auth/session`)
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 401)) throw error
  }
}

/** Requests a password reset link. The response is the same whether or not an account has the email. */
export async function requestPasswordReset(email: string): Promise<{ byMail: boolean }> {
  const response = await sendAccountRequest<{ data: { by_mail: boolean } }>(
    'POST',
    `${accountPath}/auth/password/request`,
    {
      email,
    },
  )
  return { byMail: response.data.by_mail }
}

/** Returns whether the key of a password reset link is valid. */
export async function isResetKeyValid(key: string): Promise<boolean> {
  const headers = { Accept: 'application/json', 'X-Password-Reset-Key': key }
  const response = await fetch(`${accountPath}/auth/password/reset`, { headers, credentials: 'same-origin' })
  return response.status !== 400
}

/** Sets the password with the key of a reset link, and signs in. */
export const resetPassword = (key: string, password: string) =>
  sendAccountRequest<unknown>('POST', `${accountPath}/auth/password/reset`, { key, password })

export const changePassword = (current_password: string, new_password: string) =>
  sendAccountRequest<unknown>('POST', `${accountPath}/account/password/change`, { current_password, new_password })

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

/** Ends the viewing as another person in this session. */
export const endViewing = () => rest.DELETE('/api/v1/me/viewing')

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
