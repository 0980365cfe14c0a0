/** A REST server for component tests, in place of the network. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createElement, type ReactNode } from 'react'
import { vi } from 'vitest'

interface Sent {
  method: string
  /** With the query string; without the prefix of the API. A path of the sign-in service begins with `/_allauth`. */
  path: string
  body: unknown
}

/** What the server answers: the status and the body. */
type Answer = [number, unknown]

const PREFIX = '/api/v1'

/** Answers all requests by `answer` until the test ends. Returns the list of the requests. A request fails if `answer` throws. */
export function answerRequests(answer: (sent: Sent) => Answer | Promise<Answer>): Sent[] {
  const requests: Sent[] = []
  // biome-ignore lint/suspicious/noDocumentCookie: as the server sets it
  document.cookie = 'csrftoken=x'
  vi.spyOn(globalThis, 'fetch').mockImplementation(async input => {
    const request = new Request(input)
    const url = new URL(request.url)
    const text = await request.text()
    const sent = {
      method: request.method,
      path: (url.pathname.startsWith(PREFIX) ? url.pathname.slice(PREFIX.length) : url.pathname) + url.search,
      body: text ? (JSON.parse(text) as unknown) : null,
    }
    requests.push(sent)
    const [status, body] = await answer(sent)
    return new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } })
  })
  return requests
}

/** Answers the requests by method and path, for example `'GET /me'`; any other is not found. */
export const answerByPath = (answers: Readonly<Record<string, unknown>>) =>
  answerRequests(({ method, path }) => {
    const key = `${method} ${path}`
    if (!(key in answers)) return [404, { error: { code: 'not_found', message: `${key} is not answered.` } }]
    return [200, answers[key]]
  })

/** Wraps an element in an empty cache of queries, which repeats no failed request. */
export const withQueries = (children: ReactNode, client = newQueryClient()) =>
  createElement(QueryClientProvider, { client, children })

export const newQueryClient = () => new QueryClient({ defaultOptions: { queries: { retry: false } } })

/** Lists what was sent to change something, as method, path and body. */
export const listChanges = (requests: readonly Sent[]) =>
  requests.filter(({ method }) => method !== 'GET').map(({ method, path, body }) => [`${method} ${path}`, body])

/** A list as the server returns it, on one page. */
export const page = (results: readonly unknown[]) => ({ results, next: null })
