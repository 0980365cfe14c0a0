/** The texts of errors, by their codes. */
import { type TextKeyWith, t } from './language'

/** The keys of error texts. Some texts name the settings page that helps. */
type ErrorKey = Extract<TextKeyWith<'settings'>, `error.${string}` | `run.${string}`>

/** Returns the text `error.<code>`. A test checks that each code has one in every language. */
export function getCodeText(code: string): string {
  const key = `error.${code}` as ErrorKey
  const text = t(key, getValues())
  return text === key ? t('error.refused') : text
}

/** Returns the names of the settings pages that the texts mention. */
const getValues = () => ({ settings: t('settingsModel') })

/** Returns the key of the text for a failed run. Errors of the model have their own texts. */
export function getRunErrorKey(code: string | null): ErrorKey {
  const keys = [`run.${code}`, `error.${code}`] as ErrorKey[]
  return keys.find(key => t(key, getValues()) !== key) ?? 'run.failed'
}

export const getRunErrorText = (code: string | null): string => t(getRunErrorKey(code), getValues())

const modelCodes = new Set(['garbled', 'refused', 'not_found', 'unreachable', 'model_unusable'])
/** Returns whether the error can be fixed in the model settings of the workspace. */
export const isModelError = (code: string | null): boolean => code !== null && modelCodes.has(code)

/** Returns the text for any thrown value. */
export function getErrorText(error: unknown): string {
  const seconds = getRetryAfter(error)
  if (seconds) return t('error.limit_reached_for', { n: seconds })
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : 'refused'
  return getCodeText(code)
}

/** Returns the seconds to wait after a rate limit error; null for any other error. */
export function getRetryAfter(error: unknown): number | null {
  const details = error as { code?: unknown; data?: { seconds?: unknown } } | null
  const seconds = details?.code === 'limit_reached' ? details.data?.seconds : null
  return typeof seconds === 'number' ? seconds : null
}
