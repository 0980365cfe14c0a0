/** The texts of runs that failed, by their codes. They are among the texts of lazy parts. */
import { getValues } from './errors'
import { type TextKeyWith, t } from './language'

/** The keys of these texts. A code without a text of its own for runs has that of an error. */
type RunErrorKey = Extract<TextKeyWith<'settings' | 'name'>, `error.${string}` | `run.${string}`>

/** Returns the key of the text for a failed run. Errors of the model have their own texts. */
export function getRunErrorKey(code: string | null): RunErrorKey {
  const keys = [`run.${code}`, `error.${code}`] as RunErrorKey[]
  return keys.find(key => t(key, getValues()) !== key) ?? 'run.failed'
}

/** Returns the text for a failed run or test. `settings` is the name of the page with the settings of the model. */
export const getRunErrorText = (code: string | null, settings = t('settingsModel')): string =>
  t(getRunErrorKey(code), { ...getValues(), settings })

const modelCodes = new Set(['garbled', 'refused', 'not_found', 'unreachable', 'model_unusable'])
/** Returns whether the error can be fixed in the model settings of the workspace. */
export const isModelError = (code: string | null): boolean => code !== null && modelCodes.has(code)
