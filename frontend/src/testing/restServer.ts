/** A REST server for component tests, in place of the network. */
import { vi } from 'vitest'

interface Sent {
  method: string
  /** With the query string. */
  path: string
  body: unknown
}

/** What the server answers: the status and the body. */
type Answer = [number, unknown]

const PREFIX = '/api/v1'

/** Answers all requests of the API by `answer` until the test ends. Returns the list of the requests. */
export function answerRequests(answer: (sent: Sent) => Answer | Promise<Answer>): Sent[] {
  const requests: Sent[] = []
  vi.spyOn(globalThis, 'fetch').mockImplementation(async input => {
    const request = new Request(input)
    const url = new URL(request.url)
    if (!url.pathname.startsWith(PREFIX)) return new Response(null, { status: 204 })
    const text = await request.text()
    const sent = {
      method: request.method,
      path: url.pathname.slice(PREFIX.length) + url.search,
      body: text ? (JSON.parse(text) as unknown) : null,
    }
    requests.push(sent)
    const [status, body] = await answer(sent)
    return new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } })
  })
  return requests
}
