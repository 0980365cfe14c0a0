/** Reports errors of this app to the operator: kind, screen and stack frames in our files; never user content. */
import { ApiError, type ClientError, reportClientError } from '@/api'

/** Number of errors that one page reports; further errors are ignored. */
const MAX_REPORTS = 5
const MAX_FRAMES = 8

const reported = new Set<string>()
let getScreen: () => string = () => ''

/** The line of a frame: `    at …` in Chromium, `…@https://…` in other browsers. */
const FRAME_LINE = /^\s+at |@\w+:\/\//

/** Lists the frames of a stack in our own files, innermost first, without the message: it may quote user content. */
export function listFrames(stack: string, message: string): string[] {
  // The message may have lines that look like frames.
  const lines = stack.replace(`: ${message}`, '').split('\n')
  const frames = lines.filter(line => FRAME_LINE.test(line)).join('\n')
  return [...frames.matchAll(/([\w.-]{1,80}\.(?:js|mjs|tsx?))(?:\?[\w=&-]*)?:(\d{1,7}):(\d{1,7})/g)]
    .slice(0, MAX_FRAMES)
    .map(([, file, line, column]) => `${file}:${line}:${column}`)
}

export function describeError(kind: ClientError['kind'], thrown: unknown, where: string): ClientError {
  const error = thrown instanceof Error ? thrown : null
  const name = /^[A-Za-z]\w{0,59}$/.test(error?.name ?? '') ? (error?.name ?? 'Error') : 'Unknown'
  const frames = error ? listFrames(error.stack ?? '', error.message) : []
  return { kind, name, screen: /^[\w/$.-]{0,100}$/.test(where) ? where : '', frames }
}

/** Report an error once. Errors of the API are not reported. */
export function reportError(kind: ClientError['kind'], error: unknown): void {
  if (error instanceof ApiError) return
  const report = describeError(kind, error, getScreen())
  const fingerprint = JSON.stringify(report)
  if (reported.has(fingerprint) || reported.size >= MAX_REPORTS) return
  reported.add(fingerprint)
  reportClientError(report).catch(() => undefined)
}

/** Report uncaught errors. `currentScreen` returns the route without the values of its parameters. */
export function reportErrors(currentScreen: () => string): void {
  getScreen = currentScreen
  // An event without an error is a notice of the browser, such as "ResizeObserver loop completed".
  window.addEventListener('error', event => event.error && reportError('error', event.error))
  window.addEventListener('unhandledrejection', event => reportError('rejection', event.reason))
}
