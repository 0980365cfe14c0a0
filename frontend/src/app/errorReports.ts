/** Errors of this app, reported to the operator: kind, screen and stack frames in our files; never user content. */
import { ApiError, type ClientError, reportClientError } from '@/api'

/** A page that goes on failing says no more about it. */
const MAX_REPORTS = 5
const MAX_FRAMES = 8

const reported = new Set<string>()
let screen: () => string = () => ''

/** The places of a stack in our own files, innermost first. What stands before them may quote a text. */
export function listFrames(stack: string): string[] {
  return [...stack.matchAll(/([\w.-]{1,80}\.(?:js|mjs|tsx?))(?:\?[\w=&-]*)?:(\d{1,7}):(\d{1,7})/g)]
    .slice(0, MAX_FRAMES)
    .map(([, file, line, column]) => `${file}:${line}:${column}`)
}

export function describeError(kind: ClientError['kind'], thrown: unknown, where: string): ClientError {
  const error = thrown instanceof Error ? thrown : null
  const name = /^[A-Za-z]\w{0,59}$/.test(error?.name ?? '') ? (error?.name ?? 'Error') : 'Unknown'
  return { kind, name, screen: /^[\w/$.-]{0,100}$/.test(where) ? where : '', frames: listFrames(error?.stack ?? '') }
}

/** Report an error once. Errors of the API are not reported. */
export function reportError(kind: ClientError['kind'], error: unknown): void {
  if (error instanceof ApiError) return
  const report = describeError(kind, error, screen())
  const known = JSON.stringify(report)
  if (reported.has(known) || reported.size >= MAX_REPORTS) return
  reported.add(known)
  reportClientError(report).catch(() => undefined)
}

/** Report uncaught errors. `currentScreen` returns the route without the values of its parameters. */
export function reportErrors(currentScreen: () => string): void {
  screen = currentScreen
  // Without an error it is a note of the browser, such as that of a ResizeObserver that goes on in the next frame.
  window.addEventListener('error', event => event.error && reportError('error', event.error))
  window.addEventListener('unhandledrejection', event => reportError('rejection', event.reason))
}
