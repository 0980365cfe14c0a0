import { get } from '../client'
import type { Page } from '../types'

const withCursor = (path: string, cursor: string) =>
  `${path}${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}`

/** All pages of a list, in order. `next` may be a cursor or an address. */
export async function all<T>(path: string, signal?: AbortSignal): Promise<T[]> {
  const results: T[] = []
  let next: string | null = path
  while (next !== null) {
    const page: Page<T> = await get<Page<T>>(next, signal)
    results.push(...page.results)
    next = page.next === null ? null : withCursor(path, page.next)
  }
  return results
}
