/** The search parameters of the search of messages: the words, the filters and the open hit. Pure functions. */

const kinds = ['human', 'agent'] as const

export interface MessageSearch {
  q?: string
  /** The id of the chat that is searched alone. */
  chat?: string
  author?: string
  /** Only what people or what agents have written. */
  kind?: 'human' | 'agent'
  /** The first and the last day, as `2026-11-30`. */
  starts?: string
  ends?: string
  file?: true
  order?: 'newest'
  /** The id of the message that is open, and that of its chat. */
  m?: string
  c?: string
}

const names = ['q', 'chat', 'author', 'm', 'c'] as const
const MAX_QUERY = 200

/** Parses the search parameters. Unknown ones are dropped, so that any URL opens the screen. */
export function parseMessageSearch(raw: Record<string, unknown>): MessageSearch {
  const kind = kinds.find(kind => kind === raw['kind'])
  const texts = names.map(name => [name, raw[name]] as const).map(([name, value]) => [name, readText(value)] as const)
  const days = (['starts', 'ends'] as const).map(name => [name, raw[name]] as const)
  return {
    ...Object.fromEntries(texts.filter(([, value]) => value !== '')),
    ...Object.fromEntries(days.filter(([, value]) => typeof value === 'string' && isDay(value))),
    ...(kind ? { kind } : {}),
    ...(raw['file'] === true ? { file: true } : {}),
    ...(raw['order'] === 'newest' ? { order: 'newest' } : {}),
  }
}

/** A query of digits alone is a number in the parameters. */
const readText = (value: unknown) =>
  typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, MAX_QUERY) : ''

export const isDay = (text: string) => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text))

export type SearchChange = { [Name in keyof MessageSearch]?: MessageSearch[Name] | undefined }

/** Returns the search parameters after a change; undefined removes a parameter. */
export const changeSearch = (search: MessageSearch, change: SearchChange): MessageSearch =>
  parseMessageSearch({ ...search, ...change })

/** Returns whether a text is worth a search: two letters or digits in a row, or one Chinese or Japanese character. */
export const isSearchable = (text: string) =>
  /[\p{L}\p{N}]{2}|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}/u.test(text)
