/** What an error says to a person, by its code: what happened, then what to do. */
import { type TextKey, t } from './language'

/** Codes are known to the texts as `error.<code>`; a test holds that each has one in every language. */
export function errorText(code: string): string {
  const key = `error.${code}` as TextKey
  const text = t(key)
  return text === key ? t('error.refused') : text
}

/** Why a run failed: the model's own failures have texts of their own. */
export function runErrorText(code: string | null): string {
  const own = `run.${code}` as TextKey
  const text = t(own)
  if (text !== own) return text
  const general = `error.${code}` as TextKey
  return t(general) === general ? t('run.failed') : t(general)
}

/** The text for whatever was thrown. */
export function textOfError(error: unknown): string {
  const seconds = waitOf(error)
  if (seconds) return t('error.limit_reached_for', { n: seconds })
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : 'refused'
  return errorText(code)
}

/** For how many seconds a reached limit of rate asks to wait; null for everything else. */
export function waitOf(error: unknown): number | null {
  const said = error as { code?: unknown; data?: { seconds?: unknown } } | null
  const seconds = said?.code === 'limit_reached' ? said.data?.seconds : null
  return typeof seconds === 'number' ? seconds : null
}
