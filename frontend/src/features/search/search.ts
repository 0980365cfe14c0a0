/** The search parameters of the search of messages: the words, the filters and the open hit. Pure functions. */
import type { ActorRow, ChatRow, MessageFilter } from '@/api'

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

const isDay = (text: string) => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text))

export type SearchChange = { [Name in keyof MessageSearch]?: MessageSearch[Name] | undefined }

/** Returns the search parameters after a change; undefined removes a parameter. */
export const changeSearch = (search: MessageSearch, change: SearchChange): MessageSearch =>
  parseMessageSearch({ ...search, ...change })

export const hasFilter = ({ chat, author, kind, starts, ends, file }: MessageSearch) =>
  Boolean(chat || author || kind || starts || ends || file)

/** Returns whether a text is worth a search: two letters or digits in a row, or one Chinese or Japanese character. */
export const isSearchable = (text: string) =>
  /[\p{L}\p{N}]{2}|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}/u.test(text)

/** Returns the filter of the API. */
export function buildFilter({ q = '', chat, author, kind, starts, ends, file, order }: MessageSearch): MessageFilter {
  return {
    q: isSearchable(q) ? q.trim() : '',
    ...(chat ? { chat_id: chat } : {}),
    ...(author ? { author_id: author } : {}),
    ...(kind ? { kind } : {}),
    ...(starts ? { starts_on: starts } : {}),
    ...(ends ? { ends_on: ends } : {}),
    ...(file ? { has_file: true } : {}),
    order: order ?? 'best',
  }
}

export interface Known {
  me: string
  actors: readonly ActorRow[]
  chats: readonly ChatRow[]
}

const FILTER = /(?:^|\s)(from|in|has|before|after)[:：](?:"([^"]*)"|(\S+))(?=\s|$)/giu

/**
 * Takes the filters out of a text that are typed in it, such as `from:bob`, `in:"fare alerts"`, `has:file`, `before:2026-05-01`.
 * A filter that names nothing known stays in the text. `isEnded`: the text is complete; otherwise its last word is still being
 * typed, and is left alone.
 */
export function readTypedFilters(text: string, known: Known, isEnded: boolean): { text: string; change: SearchChange } {
  let change: SearchChange = {}
  const rest = text.replace(
    FILTER,
    (whole: string, name: string, quoted: string | undefined, bare: string, at: number) => {
      if (!isEnded && quoted === undefined && at + whole.length === text.length) return whole
      const found = readFilter(name.toLowerCase(), quoted ?? bare, known)
      if (!found) return whole
      change = { ...change, ...found }
      return ''
    },
  )
  return Object.keys(change).length > 0 ? { text: rest.trimStart(), change } : { text, change }
}

function readFilter(name: string, value: string, { me, actors, chats }: Known): SearchChange | null {
  if (name === 'has') return /^(file|files|檔案|文件)$/i.test(value) ? { file: true } : null
  if (name === 'before' || name === 'after') {
    if (!isDay(value)) return null
    return name === 'before' ? { ends: addDays(value, -1) } : { starts: addDays(value, 1) }
  }
  if (name === 'in') {
    const chat = findNamed(chats, value, chat => [chat.title])
    return chat ? { chat: chat.id } : null
  }
  if (/^me$/i.test(value)) return { author: me, kind: undefined }
  const author = findNamed(actors, value.replace(/^@/, ''), actor => [actor.handle, actor.name])
  return author ? { author: author.id, kind: undefined } : null
}

/** Returns the row with this name, else one whose name begins with it or contains it, without regard to case, spaces and hyphens. */
function findNamed<Row>(
  rows: readonly Row[],
  value: string,
  getNames: (row: Row) => readonly string[],
): Row | undefined {
  const simplify = (text: string) => text.toLowerCase().replace(/[\s_#-]/g, '')
  const wanted = simplify(value)
  if (!wanted) return undefined
  const tests = [
    (name: string) => name === wanted,
    (name: string) => name.startsWith(wanted),
    (name: string) => name.includes(wanted),
  ]
  for (const test of tests) {
    const found = rows.find(row => getNames(row).some(name => test(simplify(name))))
    if (found) return found
  }
  return undefined
}

/** Returns the day that is so many days after this one. */
export function addDays(day: string, count: number): string {
  const date = new Date(`${day}T00:00:00Z`)
  date.setUTCDate(date.getUTCDate() + count)
  return date.toISOString().slice(0, 10)
}

/** Returns today in the time zone of the reader. */
export function getToday(now = new Date()): string {
  const pad = (value: number) => String(value).padStart(2, '0')
  return `${now.getFullYear()}-${pad(now.getMonth() + 1)}-${pad(now.getDate())}`
}
