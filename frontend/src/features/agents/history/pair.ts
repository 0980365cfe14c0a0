/** Which two versions are compared: it is in the address. Pure. */

/** `a` is the older side, 0 is nothing at all; `chat` is the chat the reader came from, where a restore posts a message. */
export interface HistorySearch {
  a?: number
  b?: number
  chat?: string
}

const number = (value: unknown, least: number) =>
  typeof value === 'number' && Number.isInteger(value) && value >= least ? value : undefined

/** What of an address is ours. */
export function historySearchOf(search: Record<string, unknown>): HistorySearch {
  const a = number(search['a'], 0)
  const b = number(search['b'], 1)
  const chat = search['chat']
  return {
    ...(a === undefined ? {} : { a }),
    ...(b === undefined ? {} : { b }),
    ...(typeof chat === 'string' ? { chat } : {}),
  }
}

export interface Pair {
  a: number
  b: number
}

/** Production beside what was before it, until something else is asked for. */
export function pairOf(search: HistorySearch, production: number): Pair {
  const b = search.b ?? production
  return { a: search.a ?? b - 1, b }
}

/** Of a pair, the version that can be brought back: the one that is not production; null when there is none. */
export function restorable({ a, b }: Pair, production: number): number | null {
  if (b !== production) return b
  return a > 0 && a !== production ? a : null
}

/** Where the versions of an agent are, for whoever comes from a chat. */
export const historyPath = (workspace: string, agentId: string, chatId: string) =>
  `/w/${workspace}/agents/${agentId}/history?chat=${chatId}`
