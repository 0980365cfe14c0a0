import { queryOptions, useQuery } from '@tanstack/react-query'
import { ApiError, rest, sendAccountRequest, unwrap } from '../client'
import type { Me } from '../types'
import { keys } from './keys'

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

/** Ends the viewing as another person in this session. */
export const endViewing = () => rest.DELETE('/api/v1/me/viewing')
