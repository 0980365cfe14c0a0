/** The texts of suggestions and merges. */
import type { ListedSuggestionRow, MergeRow } from '@/api'
import { type PlainTextKey, type Texts, t as texts } from '@/lib/language'

const MAX_TITLE = 90

const getFirstLine = (text: string) => {
  const line = text.trim().split('\n')[0] ?? ''
  return line.length > MAX_TITLE ? `${line.slice(0, MAX_TITLE - 1).trimEnd()}…` : line
}

/** Formats the changed parts, such as "prompt, tools". */
export const formatTouches = (touches: readonly string[], t: Texts['t'] = texts) =>
  touches.map(part => t(`touches.${part}` as Extract<PlainTextKey, `touches.${string}`>)).join(t('listJoin'))

/** Returns the first line of the author's note, or else the changed parts. */
export const getTitle = (row: ListedSuggestionRow, t: Texts['t']) =>
  getFirstLine(row.note) ||
  (row.touches.length > 0
    ? t('changeOf', { what: formatTouches(row.touches, t) })
    : t('changeOfAgent', { name: row.agent.name }))

/** Names the field of a conflict; null for the prompt and for a tool (`ToolName`). */
export function describeField(about: string, t: Texts['t']): string | null {
  if (about === 'prompt' || about.startsWith('tools.')) return null
  const [first, name] = [about.split('.')[0], about.split('.').slice(1).join('.')]
  return t(
    `field.${first === 'context' ? `context_${name}` : name || first}` as Extract<PlainTextKey, `field.${string}`>,
  )
}

/** The codes that have the same text, by its name. Each other code has its own text. */
const codesByText = {
  internal: ['crash_loop'],
  slow: ['timeout_first', 'timeout_idle', 'timeout_total', 'time_limit'],
  server: ['server', 'rate_limited', 'unreachable', 'cut', 'garbled'],
  settings: ['refused', 'bad_request', 'host_refused'],
  empty: ['empty_answer', 'malformed_calls', 'step_limit'],
}

const textNameByCode = new Map<string, string>(
  Object.entries(codesByText).flatMap(([name, codes]) => codes.map(code => [code, name] as const)),
)

/** Describes why a merge failed, or why it was done without a model; empty if there is no error. */
export function getMergeErrorText(
  { state, error_code: code }: Pick<MergeRow, 'state' | 'error_code'>,
  t: (key: PlainTextKey) => string,
): string {
  if (!code) return ''
  // If the merge failed, these two codes are about the chat. If it was done without a model, the provider answered with them:
  // an unknown model is wrong in the settings, and a refusal has no text of its own.
  if (code === 'not_found') return t(state === 'failed' ? 'mergeWhy.gone' : 'mergeWhy.settings')
  if (code === 'forbidden') return t(state === 'failed' ? 'mergeWhy.forbidden' : 'mergeWhy.broken')
  const key = `mergeWhy.${textNameByCode.get(code) ?? code}` as PlainTextKey
  const text = t(key)
  return text === key ? t('mergeWhy.broken') : text
}
