/** The languages that a publisher can choose, and the names of languages. */
import { currentTag } from '@/lib/language'

export const languageTags = [
  'en',
  'zh-hant',
  'zh-hans',
  'ja',
  'ko',
  'vi',
  'th',
  'id',
  'es',
  'fr',
  'de',
  'pt',
  'it',
  'ru',
  'ar',
  'hi',
] as const

/** Returns the name of a language in the display language. */
export function nameLanguage(tag: string): string {
  try {
    return new Intl.DisplayNames([currentTag()], { type: 'language', languageDisplay: 'standard' }).of(tag) ?? tag
  } catch {
    return tag
  }
}
