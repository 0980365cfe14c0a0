/** The texts of errors, by their codes. */
import { type TextKeyWith, t } from './language'

/** The texts of errors; some name the place where it can be mended. */
type ErrorKey = Extract<TextKeyWith<'settings'>, `error.${string}` | `run.${string}`>

/** Codes are known to the texts as `error.<code>`; a test checks that each has one in every language. */
export function getCodeText(code: string): string {
  const key = `error.${code}` as ErrorKey
  const text = t(key, interpolation())
  return text === key ? t('error.refused') : text
}

/** What the texts call the places where something can be changed. */
const interpolation = () => ({ settings: t('settingsModel') })

/** The text that says why a run failed: the model's own failures have texts of their own. */
export function getRunErrorKey(code: string | null): ErrorKey {
  const keys = [`run.${code}`, `error.${code}`] as ErrorKey[]
  return keys.find(key => t(key, interpolation()) !== key) ?? 'run.failed'
}

export const runErrorText = (code: string | null): string => t(getRunErrorKey(code), interpolation())

const modelCodes = new Set(['garbled', 'refused', 'not_found', 'unreachable', 'model_unusable'])
/** Whether what failed is mended in the settings of the workspace's model. */
export const isModelError = (code: string | null): boolean => code !== null && modelCodes.has(code)

/** The text for whatever was thrown. */
export function getErrorText(error: unknown): string {
  const seconds = retryAfter(error)
  if (seconds) return t('error.limit_reached_for', { n: seconds })
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : 'refused'
  return getCodeText(code)
}

/** For how many seconds a reached limit of rate asks to wait; null for everything else. */
export function retryAfter(error: unknown): number | null {
  const details = error as { code?: unknown; data?: { seconds?: unknown } } | null
  const seconds = details?.code === 'limit_reached' ? details.data?.seconds : null
  return typeof seconds === 'number' ? seconds : null
}
