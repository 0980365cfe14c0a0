/** The REST API: requests typed by the server's schema, errors as `ApiError` with a code that has a text in every language. */
import createClient, { createFinalURL, createQuerySerializer, defaultPathSerializer } from 'openapi-fetch'
import type { paths } from './generated/schema'
import type { ServerCode } from './types'

/** `unreachable`: no answer came. `refused`: an answer of a shape that is not ours (a proxy's, allauth's). */
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
    /** Which field was wrong, where one was. */
    readonly field: string | null = null,
  ) {
    super(message)
  }
}

/** Who this page belongs to; named in each request, so that the server refuses what is meant for somebody else's session. */
let person: string | null = null
let onSignedOut: () => void = () => undefined

export function setRequestPerson(personId: string | null): void {
  person = personId
}

/** Calls `listener` whenever an answer says that nobody (or somebody else) is signed in. */
export function onUnauthenticated(listener: () => void): void {
  onSignedOut = listener
}

/** How long an answer may take. What is sent again under the same id does no harm, so a limit costs nothing. */
const TIMEOUT_MS = 15_000

/** Where the app is served from. Unit tests run where there is no origin. */
const origin = globalThis.origin ?? 'http://localhost'

const cookie = (name: string) =>
  document.cookie
    .split('; ')
    .find(pair => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1) ?? ''

async function csrfToken(signal: AbortSignal): Promise<string> {
  if (!cookie('csrftoken')) await fetch('/_allauth/browser/v1/auth/session', { credentials: 'same-origin', signal })
  return cookie('csrftoken')
}

/** Sends a request with the headers that each one has, and reads the whole answer in time. Raises `ApiError` unless it succeeded. */
async function send(request: Request): Promise<Response> {
  const limit = new AbortController()
  const abort = () => limit.abort()
  const timer = setTimeout(abort, TIMEOUT_MS)
  request.signal.addEventListener('abort', abort)
  let answer: Response
  let text: string
  try {
    request.signal.throwIfAborted()
    request.headers.set('Accept', 'application/json')
    if (person !== null) request.headers.set('X-Atelier-Person', person)
    if (request.method !== 'GET') request.headers.set('X-CSRFToken', await csrfToken(limit.signal))
    answer = await fetch(request, { signal: limit.signal })
    text = await answer.text()
  } catch (cause) {
    if (request.signal.aborted) throw cause
    throw new ApiError(0, 'unreachable', String(cause))
  } finally {
    clearTimeout(timer)
    request.signal.removeEventListener('abort', abort)
  }
  const isJson = answer.headers.get('content-type')?.includes('json') ?? false
  if (!answer.ok) throw toError(answer.status, text && isJson ? JSON.parse(text) : null)
  return text && isJson ? new Response(text, answer) : new Response(null, { status: 204 })
}

interface OurError {
  error?: { code: ServerCode; message: string; hints?: string[]; data?: Record<string, unknown> }
  errors?: { code: string; message: string; param?: string }[]
}

function toError(status: number, body: OurError | null): ApiError {
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

/** The REST API by its schema. Its methods raise `ApiError`: `answerOf` takes the answer out. */
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

/** Asked by who does not know whether anybody is signed in. */
const ME: keyof paths = '/api/v1/me'

/** The answer to a request that succeeded; undefined where it has none. */
export async function answerOf<Answer extends { data?: unknown }>(
  request: Promise<Answer>,
): Promise<Exclude<Answer['data'], undefined>> {
  return (await request).data as Exclude<Answer['data'], undefined>
}

/** The address of a file, for a link. */
export const urlOf = (path: keyof paths, params: { path: Record<string, unknown>; query: Record<string, unknown> }) =>
  createFinalURL(path, {
    baseUrl: '',
    params,
    querySerializer: createQuerySerializer(),
    pathSerializer: defaultPathSerializer,
  })

/** Sends one request to the sign-in service, which is not in the schema. Raises `ApiError`. */
export async function sendAccountRequest<T>(method: 'POST' | 'DELETE', path: string, body?: unknown): Promise<T> {
  const content =
    body === undefined ? {} : { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }
  const answer = await send(new Request(origin + path, { method, ...content }))
  return (answer.status === 204 ? null : await answer.json()) as T
}
