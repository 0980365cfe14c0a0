/** The texts of suggestions and merges. */
import type { ListedSuggestionRow, MergeRow } from '@/api'
import { describeParts } from '@/features/agents'
import type { PlainTextKey, Texts } from '@/lib/language'

const MAX_TITLE = 90

const getFirstLine = (text: string) => {
  const line = text.trim().split('\n')[0] ?? ''
  return line.length > MAX_TITLE ? `${line.slice(0, MAX_TITLE - 1).trimEnd()}…` : line
}

/** Returns the first line of the author's note, or else the changed parts. */
export const getTitle = (row: ListedSuggestionRow, t: Texts['t']) =>
  getFirstLine(row.note) ||
  (row.touches.length > 0
    ? t('changeOf', { what: describeParts(row.touches, t) })
    : t('changeOfAgent', { name: row.agent.name }))

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
