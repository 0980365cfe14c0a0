import { QueryClient } from '@tanstack/react-query'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

const json = { 'content-type': 'application/json' }
const signedOut = { error: { code: 'not_signed_in', message: 'Sign in.' } }
const buildMe = (id: string) => ({ actor: { id, name: id }, workspaces: [] })

/** The person whom the server recognizes by the cookie; null: no one; an error: the server cannot be reached. */
let cookie: string | null | Error
const visitedUrls: string[] = []
let headers: Headers[]

const answer = (status: number, body: unknown) => new Response(JSON.stringify(body), { status, headers: json })

beforeEach(() => {
  vi.resetModules()
  visitedUrls.length = 0
  headers = []
  cookie = null
  const memory = (items: Map<string, string>) => ({
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => items.set(key, value),
    removeItem: (key: string) => items.delete(key),
  })
  vi.stubGlobal('localStorage', memory(new Map()))
  vi.stubGlobal('sessionStorage', memory(new Map()))
  vi.stubGlobal('window', { addEventListener: () => undefined })
  vi.stubGlobal('document', {
    cookie: 'csrftoken=x',
    addEventListener: () => undefined,
    documentElement: { dataset: {} },
  })
  vi.stubGlobal('location', {
    pathname: '/w/lab/c/1',
    search: '',
    hash: '',
    assign: (to: string) => visitedUrls.push(to),
  })
  vi.stubGlobal('fetch', ({ url, headers: sent }: Request) => {
    headers.push(sent)
    if (cookie instanceof Error) return Promise.reject(cookie)
    const named = sent.get('X-Atelier-Person')
    if (cookie === null || (named && named !== cookie)) return Promise.resolve(answer(401, signedOut))
    return Promise.resolve(answer(200, url.endsWith('/me') ? buildMe(cookie) : {}))
  })
})
afterEach(() => vi.unstubAllGlobals())

/** Loads the session module as a fresh page would. */
async function loadPage() {
  const { watchSession, pathAfterSignIn } = await import('./session')
  const api = await import('@/api')
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } })
  watchSession(client)
  const readMe = () => client.fetchQuery({ ...api.meQuery, staleTime: 0 }).catch(() => undefined)
  return { client, api, readMe, pathAfterSignIn }
}

it('asks nobody who is signed in on a page that the server has marked as anonymous', async () => {
  vi.stubGlobal('document', { ...document, documentElement: { dataset: { anonymous: '' } } })
  const { client, api, readMe } = await loadPage()
  expect(await client.fetchQuery(api.meQuery)).toBeNull()
  expect(headers).toEqual([])
  cookie = 'alice'
  expect(await readMe()).toMatchObject({ actor: { id: 'alice' } })
  expect(visitedUrls).toEqual([])
})

describe('FAIR6: a page belongs to one person', () => {
  it('forgets everything and goes to sign-in when the session has ended', async () => {
    const { client, readMe } = await loadPage()
    cookie = 'alice'
    await readMe()
    client.setQueryData(['workspace', 'lab', 'chats'], ['secret'])
    cookie = null
    await readMe()
    expect(visitedUrls).toEqual(['/sign-in?next=%2Fw%2Flab%2Fc%2F1'])
    expect(client.getQueryData(['workspace', 'lab', 'chats'])).toBeUndefined()
  })

  it('goes to sign-in when another person is signed in', async () => {
    const { client, readMe } = await loadPage()
    cookie = 'alice'
    await readMe()
    client.setQueryData(['notifications'], ['secret'])
    cookie = 'bob'
    await readMe()
    expect(visitedUrls).toHaveLength(1)
    expect(client.getQueryData(['notifications'])).toBeUndefined()
  })

  it('goes to sign-in at the first refused request', async () => {
    const { api, readMe } = await loadPage()
    cookie = 'alice'
    await readMe()
    cookie = 'bob'
    await expect(api.rest.GET('/api/v1/notifications/count')).rejects.toMatchObject({ code: 'not_signed_in' })
    await vi.waitFor(() => expect(visitedUrls).toHaveLength(1))
    expect(headers[1]?.get('X-Atelier-Person')).toBe('alice')
  })

  it('stays when the server cannot be reached, and when the same person is read again', async () => {
    const { client, readMe } = await loadPage()
    cookie = 'alice'
    await readMe()
    client.setQueryData(['notifications'], ['mine'])
    cookie = new TypeError('Failed to fetch')
    await readMe()
    cookie = 'alice'
    await readMe()
    expect(visitedUrls).toEqual([])
    expect(client.getQueryData(['notifications'])).toEqual(['mine'])
  })
})

describe('FAIR6: the path after sign-in', () => {
  const signInAs = async (person: string) => {
    vi.resetModules()
    const page = await loadPage()
    cookie = person
    await page.readMe()
    return page.pathAfterSignIn
  }

  it('is the requested path, but not a path from another person in this tab', async () => {
    expect((await signInAs('alice'))('/w/lab/c/1')).toBe('/w/lab/c/1')
    expect((await signInAs('alice'))('/w/lab/c/1')).toBe('/w/lab/c/1')
    const pathForBob = await signInAs('bob')
    expect(pathForBob('/w/lab/c/1')).toBe('/')
    expect(pathForBob('/join/token')).toBe('/join/token')
    expect(pathForBob(undefined)).toBe('/')
  })

  it('is home if what the URL asks for is no path of the app', async () => {
    const pathFor = await signInAs('alice')
    for (const next of [
      'javascript:alert(1)',
      '//evil.example',
      '/\\evil.example',
      'https://evil.example/',
      '',
      7,
      ['/w'],
    ])
      expect(pathFor(next)).toBe('/')
  })
})
