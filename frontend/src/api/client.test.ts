import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { rest, sendAccountRequest, unwrap } from './client'
import { fetchAllPages } from './queries/pages'

let requests: Request[]
let respond: (request: Request) => Response | Promise<Response>

const json = (status: number, body: unknown) =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } })

beforeEach(() => {
  requests = []
  vi.stubGlobal('document', { cookie: 'a=b; csrftoken=secret' })
  vi.stubGlobal('fetch', async (request: Request) => {
    requests.push(request)
    return respond(request)
  })
})
afterEach(() => vi.unstubAllGlobals())

const readChats = (page: { cursor?: string }) =>
  unwrap(rest.GET('/api/v1/workspaces/{workspace_id}/chats', { params: { path: { workspace_id: 'w' }, query: page } }))

it('reads every page of a list with the cursor of the page before', async () => {
  respond = ({ url }) => json(200, { results: [url], next: url.includes('cursor') ? null : 'a/b' })
  expect((await fetchAllPages(readChats)).map(String)).toEqual([
    'http://localhost/api/v1/workspaces/w/chats',
    'http://localhost/api/v1/workspaces/w/chats?cursor=a%2Fb',
  ])
})

it('sends the CSRF token with a request that changes something', async () => {
  respond = () => new Response(null, { status: 204 })
  const response = await rest.DELETE('/api/v1/links/{link_id}', { params: { path: { link_id: 'l' } } })
  expect(response.data).toBeUndefined()
  expect(requests[0]?.headers.get('X-CSRFToken')).toBe('secret')
  expect(requests[0]?.method).toBe('DELETE')
})

it('throws an ApiError with the code, hints and data of the response', async () => {
  respond = () => json(409, { error: { code: 'stale_revision', message: 'Old.', hints: ['Read.'], data: { a: 1 } } })
  await expect(rest.GET('/api/v1/me')).rejects.toMatchObject({
    status: 409,
    code: 'stale_revision',
    hints: ['Read.'],
    data: { a: 1 },
  })
})

it('reports an unknown error body as refused and a missing response as unreachable', async () => {
  respond = () => new Response('<h1>Bad gateway</h1>', { status: 502, headers: { 'content-type': 'text/html' } })
  await expect(rest.GET('/api/v1/me')).rejects.toMatchObject({ status: 502, code: 'refused' })
  respond = () => Promise.reject(new TypeError('Failed to fetch'))
  await expect(rest.GET('/api/v1/me')).rejects.toMatchObject({ status: 0, code: 'unreachable' })
})

it('throws the abort error when the caller aborts the request', async () => {
  const controller = new AbortController()
  respond = () => {
    controller.abort()
    return Promise.reject(new DOMException('aborted', 'AbortError'))
  }
  await expect(rest.GET('/api/v1/me', { signal: controller.signal })).rejects.toThrow(DOMException)
})

it('names the field that the sign-in service rejects', async () => {
  respond = () => json(400, { errors: [{ code: 'invalid', message: 'No address.', param: 'email' }] })
  const refused = sendAccountRequest('POST', '/_allauth/browser/v1/auth/login', { email: 'x' })
  await expect(refused).rejects.toMatchObject({ code: 'invalid_email', field: 'email' })
  expect(await requests[0]?.json()).toEqual({ email: 'x' })
})
