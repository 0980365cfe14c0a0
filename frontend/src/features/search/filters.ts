/** The filters of the search of messages: as they are typed, and as the API takes them. Pure functions. */
import type { ActorRow, ChatRow, MessageFilter } from '@/api'
import { isDay, isSearchable, type MessageSearch, type SearchChange } from './search'

export const hasFilter = ({ chat, author, kind, starts, ends, file }: MessageSearch) =>
  Boolean(chat || author || kind || starts || ends || file)

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
