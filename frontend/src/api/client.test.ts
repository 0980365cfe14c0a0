import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { answerOf, rest, sendAccountRequest } from './client'
import { fetchAllPages } from './queries/pages'

let asked: Request[]
let serve: (request: Request) => Response | Promise<Response>

const json = (status: number, body: unknown) =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } })

beforeEach(() => {
  asked = []
  vi.stubGlobal('document', { cookie: 'a=b; csrftoken=secret' })
  vi.stubGlobal('fetch', async (request: Request) => {
    asked.push(request)
    return serve(request)
  })
})
afterEach(() => vi.unstubAllGlobals())

const readChats = (page: { cursor?: string }) =>
  answerOf(
    rest.GET('/api/v1/workspaces/{workspace_id}/chats', { params: { path: { workspace_id: 'w' }, query: page } }),
  )

it('asks for the address with its parameters, page after page', async () => {
  serve = ({ url }) => json(200, { results: [url], next: url.includes('cursor') ? null : 'a/b' })
  expect((await fetchAllPages(readChats)).map(String)).toEqual([
    'http://localhost/api/v1/workspaces/w/chats',
    'http://localhost/api/v1/workspaces/w/chats?cursor=a%2Fb',
  ])
})

it('sends the token against forged requests with what changes something', async () => {
  serve = () => new Response(null, { status: 204 })
  const answer = await rest.DELETE('/api/v1/links/{link_id}', { params: { path: { link_id: 'l' } } })
  expect(answer.data).toBeUndefined()
  expect(asked[0]?.headers.get('X-CSRFToken')).toBe('secret')
  expect(asked[0]?.method).toBe('DELETE')
})

it('throws what the server refused, with its code, hints and data', async () => {
  serve = () => json(409, { error: { code: 'stale_revision', message: 'Old.', hints: ['Read.'], data: { a: 1 } } })
  await expect(rest.GET('/api/v1/me')).rejects.toMatchObject({
    status: 409,
    code: 'stale_revision',
    hints: ['Read.'],
    data: { a: 1 },
  })
})

it('calls an answer of another shape refused, and none unreachable', async () => {
  serve = () => new Response('<h1>Bad gateway</h1>', { status: 502, headers: { 'content-type': 'text/html' } })
  await expect(rest.GET('/api/v1/me')).rejects.toMatchObject({ status: 502, code: 'refused' })
  serve = () => Promise.reject(new TypeError('Failed to fetch'))
  await expect(rest.GET('/api/v1/me')).rejects.toMatchObject({ status: 0, code: 'unreachable' })
})

it('is not unreachable when its caller gives up', async () => {
  const controller = new AbortController()
  serve = () => {
    controller.abort()
    return Promise.reject(new DOMException('aborted', 'AbortError'))
  }
  await expect(rest.GET('/api/v1/me', { signal: controller.signal })).rejects.toThrow(DOMException)
})

it('names the field that the sign-in service refuses', async () => {
  serve = () => json(400, { errors: [{ code: 'invalid', message: 'No address.', param: 'email' }] })
  const refused = sendAccountRequest('POST', '/_allauth/browser/v1/auth/login', { email: 'x' })
  await expect(refused).rejects.toMatchObject({ code: 'invalid_email', field: 'email' })
  expect(await asked[0]?.json()).toEqual({ email: 'x' })
})
