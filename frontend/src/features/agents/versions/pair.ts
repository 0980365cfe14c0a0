/** The pair of versions to compare, as the URL holds it. Pure functions. */

export interface VersionsSearch {
  /** As in `Pair`. */
  a?: number
  b?: number
  /** The chat the reader came from, where a restore posts a message. */
  chat?: string
}

const parseInteger = (value: unknown, min: number) =>
  typeof value === 'number' && Number.isInteger(value) && value >= min ? value : undefined

/** Parses the search parameters of the URL; invalid ones are left out. */
export function parseVersionsSearch(search: Record<string, unknown>): VersionsSearch {
  const a = parseInteger(search['a'], 0)
  const b = parseInteger(search['b'], 1)
  const chat = search['chat']
  return {
    ...(a === undefined ? {} : { a }),
    ...(b === undefined ? {} : { b }),
    ...(typeof chat === 'string' ? { chat } : {}),
  }
}

export interface Pair {
  /** The version that `b` is compared with (0: empty content). */
  a: number
  /** The version that is open. */
  b: number
}

/** Returns the pair in the URL; by default a version and the one before it. */
export function getPair(search: VersionsSearch, production: number): Pair {
  const b = search.b ?? production
  return { a: search.a ?? b - 1, b }
}

/** Returns the version of the pair that can be restored: `b`, or `a` if `b` is production; null if neither can. */
export function findRestorable({ a, b }: Pair, production: number): number | null {
  if (b !== production) return b
  return a > 0 && a !== production ? a : null
}

/** Builds the path of an agent's versions, for a reader who comes from a chat. */
export const buildVersionsPath = (workspace: string, agentId: string, chatId: string) =>
  `/w/${workspace}/agents/${agentId}/history?chat=${chatId}`
