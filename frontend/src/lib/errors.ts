/** The texts of errors, by their codes. */
import { type TextKeyWith, t } from './language'

/** The keys of error texts. Some texts name the settings page that helps, or the person whose own model failed. */
type ErrorKey = Extract<TextKeyWith<'settings' | 'name'>, `error.${string}`>

/** Returns the text `error.<code>`. A test checks that each code has one in every language. */
export function getCodeText(code: string): string {
  const key = `error.${code}` as ErrorKey
  const text = t(key, getValues())
  return text === key ? t('error.refused') : text
}

/** Returns the names of the settings pages and of the person that the texts mention. */
export const getValues = () => ({ settings: t('settingsModel'), name: t('unknownPerson') })

/** Returns the text for any thrown value. */
export function getErrorText(error: unknown): string {
  const seconds = getRetryAfter(error)
  if (seconds) return t('error.limit_reached_for', { n: seconds })
  const model = getUnpricedModel(error)
  if (model) return t(`budget.unpriced.${model.setBy}`, { model: model.name })
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : 'refused'
  return getCodeText(code)
}

/** Returns the model that a budget refuses, because its price is not known, and who can set it; null for any other error. */
function getUnpricedModel(error: unknown): { name: string; setBy: 'editor' | 'operator' } | null {
  const details = error as { code?: unknown; data?: { unpriced_model?: unknown; price_set_by?: unknown } } | null
  const name = details?.code === 'price_unknown' ? details.data?.unpriced_model : null
  if (typeof name !== 'string') return null
  return { name, setBy: details?.data?.price_set_by === 'operator' ? 'operator' : 'editor' }
}

/** Returns the seconds to wait after a rate limit error; null for any other error. */
export function getRetryAfter(error: unknown): number | null {
  const details = error as { code?: unknown; data?: { seconds?: unknown } } | null
  const seconds = details?.code === 'limit_reached' ? details.data?.seconds : null
  return typeof seconds === 'number' ? seconds : null
}
