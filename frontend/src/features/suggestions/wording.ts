/** What a suggestion is called, and other words made of rows. */
import type { ListedSuggestionRow, MergeRow } from '@/api'
import { type PlainTextKey, type Texts, t as texts } from '@/lib/language'

const MAX_TITLE = 90

const firstLine = (text: string) => {
  const line = text.trim().split('\n')[0] ?? ''
  return line.length > MAX_TITLE ? `${line.slice(0, MAX_TITLE - 1).trimEnd()}…` : line
}

/** "prompt, tools" in the screen's language. */
export const touchesText = (touches: readonly string[], t: Texts['t'] = texts) =>
  touches.map(each => t(`touches.${each}` as Extract<PlainTextKey, `touches.${string}`>)).join(t('listJoin'))

/** The author's own words when there are some; else what it touches. */
export const titleOf = (row: ListedSuggestionRow, t: Texts['t']) =>
  firstLine(row.note) ||
  (row.touches.length > 0
    ? t('changeOf', { what: touchesText(row.touches, t) })
    : t('changeOfAgent', { name: row.agent.name }))

/** What a conflict is about: a field of the forms, a tool; null for the prompt. */
export function aboutText(about: string, t: Texts['t']): string | null {
  if (about === 'prompt') return null
  const [first, name] = [about.split('.')[0], about.split('.').slice(1).join('.')]
  if (first === 'tools') return `${t('tool')} ${name}`
  return t(`field.${name || first}` as Extract<PlainTextKey, `field.${string}`>)
}

/** Codes that share a text; the others have one of their own. */
const whys = {
  internal: ['crash_loop'],
  slow: ['timeout_first', 'timeout_idle', 'timeout_total', 'time_limit'],
  server: ['server', 'rate_limited', 'unreachable', 'cut', 'garbled'],
  settings: ['refused', 'bad_request', 'host_refused'],
  empty: ['empty_answer', 'malformed_calls', 'step_limit'],
}

const byCode = new Map<string, string>(
  Object.entries(whys).flatMap(([why, codes]) => codes.map(code => [code, why] as const)),
)

/** Why a merge has failed, or why it was done line by line; empty when there is nothing to say. */
export function mergeWhy(
  { state, error_code: code }: Pick<MergeRow, 'state' | 'error_code'>,
  t: (key: PlainTextKey) => string,
): string {
  if (!code) return ''
  // These two are said of the chat where a merge failed, and of the model where it went on without one.
  if (code === 'not_found') return t(state === 'failed' ? 'mergeWhy.gone' : 'mergeWhy.settings')
  if (code === 'forbidden') return t(state === 'failed' ? 'mergeWhy.forbidden' : 'mergeWhy.broken')
  const key = `mergeWhy.${byCode.get(code) ?? code}` as PlainTextKey
  const text = t(key)
  return text === key ? t('mergeWhy.broken') : text
}
