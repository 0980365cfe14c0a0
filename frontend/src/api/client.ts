/** The one way to the REST API: JSON both ways, errors as `ApiError` with a code that has a text in every language. */
import type { ServerCode } from './types'

/** `unreachable`: no answer came. `refused`: an answer of a shape that is not ours (a proxy's, allauth's). */
export type ErrorCode = ServerCode | 'unreachable' | 'refused' | AccountCode

/** Codes of the sign-in service that the client has a text for. */
export const accountCodes = [
  'email_password_mismatch',
  'email_taken',
  'password_too_short',
  'password_too_common',
  'password_entirely_numeric',
  'password_too_similar',
  'enter_current_password',
  'invalid_password_reset',
  'invalid_email',
] as const
export type AccountCode = (typeof accountCodes)[number]

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: ErrorCode,
    message: string,
    readonly hints: readonly string[] = [],
    readonly data: Readonly<Record<string, unknown>> = {},
    /** Which field was wrong, where one was. */
    readonly field: string | null = null,
  ) {
    super(message)
  }
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

const cookie = (name: string) =>
  document.cookie
    .split('; ')
    .find(pair => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1) ?? ''

async function csrfToken(): Promise<string> {
  if (!cookie('csrftoken')) await fetch('/_allauth/browser/v1/auth/session', { credentials: 'same-origin' })
  return cookie('csrftoken')
}

async function answerTo(method: Method, path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  const headers: Record<string, string> = { Accept: 'application/json' }
  if (body !== undefined) headers['Content-Type'] = 'application/json'
  try {
    if (method !== 'GET') headers['X-CSRFToken'] = await csrfToken()
    return await fetch(path, {
      method,
      headers,
      credentials: 'same-origin',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    })
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause
    throw new ApiError(0, 'unreachable', String(cause))
  }
}

interface OurError {
  error?: { code: ServerCode; message: string; hints?: string[]; data?: Record<string, unknown> }
  errors?: { code: string; message: string; param?: string }[]
}

export function toError(status: number, body: OurError | null): ApiError {
  const ours = body?.error
  if (ours) return new ApiError(status, ours.code, ours.message, ours.hints, ours.data)
  const first = body?.errors?.[0]
  if (first) return accountError(status, first)
  return new ApiError(status, status === 401 ? 'not_signed_in' : 'refused', `HTTP ${status}`)
}

function accountError(status: number, { code, message, param }: { code: string; message: string; param?: string }) {
  const known = param === 'email' && code === 'invalid' ? 'invalid_email' : code
  const ours = accountCodes.find(each => each === known) ?? 'refused'
  return new ApiError(status, ours, message, [], {}, param ?? null)
}

/** Sends one request. Raises `ApiError`; a 204 answers undefined. */
export async function api<T>(method: Method, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const answer = await answerTo(method, path, body, signal)
  const text = await answer.text()
  const json = text && answer.headers.get('content-type')?.includes('json') ? (JSON.parse(text) as unknown) : null
  if (!answer.ok) throw toError(answer.status, json as OurError | null)
  return json as T
}

const root = '/api/v1'
export const get = <T>(path: string, signal?: AbortSignal) => api<T>('GET', root + path, undefined, signal)
export const post = <T>(path: string, body: unknown = {}) => api<T>('POST', root + path, body)
export const put = <T>(path: string, body: unknown) => api<T>('PUT', root + path, body)
export const patch = <T>(path: string, body: unknown) => api<T>('PATCH', root + path, body)
export const del = (path: string) => api<void>('DELETE', root + path)
