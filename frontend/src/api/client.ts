/** The REST API: requests typed by the server's schema, errors as `ApiError` with a code that has a text in every language. */
import createClient, { createFinalURL, createQuerySerializer, defaultPathSerializer } from 'openapi-fetch'
import { isViewing } from '@/lib/viewing'
import type { paths } from './generated/schema'
import type { ServerCode } from './types'

/** `unreachable`: no response came. `refused`: an error response in a format other than ours (from a proxy or allauth). */
export type ErrorCode = ServerCode | 'unreachable' | 'refused' | AccountCode

/** Codes of the sign-in service that the client has a text for. */
const accountCodes = [
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
type AccountCode = (typeof accountCodes)[number]

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: ErrorCode,
    message: string,
    readonly hints: readonly string[] = [],
    readonly data: Readonly<Record<string, unknown>> = {},
    /** The form field that the error is about, if any. */
    readonly field: string | null = null,
  ) {
    super(message)
  }
}

export const isNotFound = (error: unknown) => error instanceof ApiError && error.status === 404

/** The id of the signed-in person. Every request sends it, and the server refuses one whose session belongs to another person. */
let personId: string | null = null
let onSignedOut: () => void = () => undefined

export function setRequestPerson(id: string | null): void {
  personId = id
}

/** Calls `listener` whenever a response says that this person is not signed in any more. */
export function onUnauthenticated(listener: () => void): void {
  onSignedOut = listener
}

/** Time limit of a request. A request that is repeated with the same id has no further effect, so a timeout is safe. */
const TIMEOUT_MS = 15_000

/** The origin of the app. Unit tests run in Node, which has none. */
const origin = globalThis.origin ?? 'http://localhost'

const readCookie = (name: string) =>
  document.cookie
    .split('; ')
    .find(pair => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1) ?? ''

/** Returns the CSRF token, which is a cookie. If there is none, a request makes the server set it. */
async function readCsrfToken(signal: AbortSignal): Promise<string> {
  if (!readCookie('csrftoken')) await fetch('/_allauth/browser/v1/auth/session', { credentials: 'same-origin', signal })
  return readCookie('csrftoken')
}

/** While an operator views as a person, throws the error that the server has for changes, without sending a request. */
function refuseChange(method: string, path: string): void {
  if (isViewing() && method !== 'GET' && path !== VIEWING)
    throw new ApiError(403, 'viewing', 'You see this as another person sees it, and can change nothing.')
}

/** Sends a request with the common headers and reads the whole response within `TIMEOUT_MS`. Throws `ApiError` if it fails. */
async function send(request: Request): Promise<Response> {
  refuseChange(request.method, new URL(request.url).pathname)
  const controller = new AbortController()
  const abort = () => controller.abort()
  const timer = setTimeout(abort, TIMEOUT_MS)
  request.signal.addEventListener('abort', abort)
  let response: Response
  let text: string
  try {
    request.signal.throwIfAborted()
    request.headers.set('Accept', 'application/json')
    if (personId !== null) request.headers.set('X-Atelier-Person', personId)
    if (request.method !== 'GET') request.headers.set('X-CSRFToken', await readCsrfToken(controller.signal))
    response = await fetch(request, { signal: controller.signal })
    text = await response.text()
  } catch (cause) {
    if (request.signal.aborted) throw cause
    throw new ApiError(0, 'unreachable', String(cause))
  } finally {
    clearTimeout(timer)
    request.signal.removeEventListener('abort', abort)
  }
  const isJson = response.headers.get('content-type')?.includes('json') ?? false
  if (!response.ok) throw toError(response.status, text && isJson ? JSON.parse(text) : null)
  return text && isJson ? new Response(text, response) : new Response(null, { status: 204 })
}

/**
 * Uploads a form and reports the share (0 to 1) that was sent, which `fetch` cannot do. It has no timeout, because a large file may
 * take long. Throws `ApiError`.
 */
export async function upload<T>(
  path: string,
  form: FormData,
  onProgress: (share: number) => void,
  signal: AbortSignal,
): Promise<T> {
  refuseChange('POST', path)
  let token: string
  try {
    token = await readCsrfToken(signal)
  } catch (cause) {
    if (signal.aborted) throw cause
    throw new ApiError(0, 'unreachable', String(cause))
  }
  const request = new XMLHttpRequest()
  const done = new Promise<void>((resolve, reject) => {
    request.addEventListener('load', () => resolve())
    request.addEventListener('error', () => reject(new ApiError(0, 'unreachable', 'The upload failed.')))
    request.addEventListener('abort', () => reject(signal.reason))
  })
  request.upload.addEventListener('progress', event => onProgress(event.total ? event.loaded / event.total : 0))
  signal.throwIfAborted()
  signal.addEventListener('abort', () => request.abort())
  request.open('POST', origin + path)
  request.setRequestHeader('Accept', 'application/json')
  request.setRequestHeader('X-CSRFToken', token)
  if (personId !== null) request.setRequestHeader('X-Atelier-Person', personId)
  request.send(form)
  await done
  const isJson = request.getResponseHeader('content-type')?.includes('json') ?? false
  const body = isJson ? JSON.parse(request.responseText) : null
  if (request.status < 200 || request.status >= 300) {
    const error = toError(request.status, body)
    if (error.code === 'not_signed_in') onSignedOut()
    throw error
  }
  return body as T
}

interface ErrorBody {
  error?: { code: ServerCode; message: string; hints?: string[]; data?: Record<string, unknown> }
  errors?: { code: string; message: string; param?: string }[]
}

function toError(status: number, body: ErrorBody | null): ApiError {
  const apiError = body?.error
  if (apiError) return new ApiError(status, apiError.code, apiError.message, apiError.hints, apiError.data)
  const serviceError = body?.errors?.[0]
  if (serviceError) return toAccountError(status, serviceError)
  return new ApiError(status, status === 401 ? 'not_signed_in' : 'refused', `HTTP ${status}`)
}

function toAccountError(status: number, { code, message, param }: { code: string; message: string; param?: string }) {
  const specificCode = param === 'email' && code === 'invalid' ? 'invalid_email' : code
  const knownCode = accountCodes.find(item => item === specificCode) ?? 'refused'
  return new ApiError(status, knownCode, message, [], {}, param ?? null)
}

/** The REST API by its schema. Its methods throw `ApiError`; `unwrap` returns the data of a response. */
export const rest = createClient<paths>({
  baseUrl: origin,
  fetch: async request => {
    try {
      return await send(request)
    } catch (error) {
      const isMe = new URL(request.url).pathname === ME
      if (error instanceof ApiError && error.code === 'not_signed_in' && !isMe) onSignedOut()
      throw error
    }
  },
})

/** Requested to find out whether a person is signed in, so its 401 does not mean that a session ended. */
const ME: keyof paths = '/api/v1/me'

/** The viewing of this session. A DELETE ends it, and is the only change that is allowed during a viewing. */
const VIEWING: keyof paths = '/api/v1/me/viewing'

/** Returns the data of a successful request. Of a response without a body the type is `never`: its result is ignored. */
export async function unwrap<Answer extends { data?: unknown }>(
  request: Promise<Answer>,
): Promise<Exclude<Answer['data'], undefined>> {
  return (await request).data as Exclude<Answer['data'], undefined>
}

/** Builds the URL of a GET request, without the origin: for a download link or a picture. */
export const buildUrl = (
  path: keyof paths,
  params: { path: Record<string, unknown>; query: Record<string, unknown> },
) =>
  createFinalURL(path, {
    baseUrl: '',
    params,
    querySerializer: createQuerySerializer(),
    pathSerializer: defaultPathSerializer,
  })

/** Sends a request to the sign-in service, which is not in the schema. Throws `ApiError`. */
export async function sendAccountRequest<T>(method: 'POST' | 'DELETE', path: string, body?: unknown): Promise<T> {
  const content =
    body === undefined ? {} : { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }
  const response = await send(new Request(origin + path, { method, ...content }))
  return (response.status === 204 ? null : await response.json()) as T
}
