import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ApiError, api, get, patch } from '../client'
import type { Me } from '../types'
import { keys } from './keys'

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

export function useChangeMe() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (change: { name?: string; language?: string }) => patch<Me>('/me', change),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.me }),
  })
}
