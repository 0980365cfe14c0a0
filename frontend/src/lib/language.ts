/** The screen's language: English, 繁體中文 or 简体中文; chosen by the browser, and by the person over it. */
import i18next from 'i18next'
import { createElement, Fragment, type ReactNode, useSyncExternalStore } from 'react'
import { spaced } from './spacing'
import type en from './texts/en'

export const languages = ['en', 'zh-hant', 'zh-hans'] as const
export type Language = (typeof languages)[number]

/** The names of languages are written in themselves. */
export const languageNames: Record<Language, string> = { en: 'English', 'zh-hant': '繁體中文', 'zh-hans': '简体中文' }

const tags: Record<Language, string> = { en: 'en', 'zh-hant': 'zh-Hant', 'zh-hans': 'zh-Hans' }

type Singular<K> = K extends `${infer Stem}_one` | `${infer Stem}_other` ? Stem : K
type TextKey = Singular<keyof typeof en>

type NamesIn<Text> = Text extends `${string}{{${infer Name}}}${infer Rest}` ? Name | NamesIn<Rest> : never
/** The values that a text has places for; `count` chooses between its singular and its plural. */
type ValueName<K extends TextKey> = K extends keyof typeof en
  ? NamesIn<(typeof en)[K]>
  : 'count' | NamesIn<(typeof en)[`${K}_${'one' | 'other'}` & keyof typeof en]>
type ValuesFor<Name extends string> = { [N in Name]: N extends 'count' ? number : string | number }
export type Values<K extends TextKey> = ValuesFor<ValueName<K>>
/** The texts that need no values but these. */
export type TextKeyWith<Name extends string> = {
  [K in TextKey]: [ValueName<K>] extends [Name] ? K : never
}[TextKey]
/** The texts without values. */
export type PlainTextKey = TextKeyWith<never>

const loaders: Record<Language, () => Promise<{ default: Record<string, string> }>> = {
  en: () => import('./texts/en'),
  'zh-hant': () => import('./texts/zh-hant'),
  'zh-hans': () => import('./texts/zh-hans'),
}

const STORED = 'atelier.language'

/** The nearest of our languages to a BCP 47 tag: Taiwan, Hong Kong and Macau write traditional characters. */
function nearest(tag: string): Language | null {
  const low = tag.toLowerCase()
  if (low.startsWith('en')) return 'en'
  if (!low.startsWith('zh')) return null
  return /hant|-tw|-hk|-mo/.test(low) ? 'zh-hant' : 'zh-hans'
}

export function chosenLanguage(): Language {
  const stored = localStorage.getItem(STORED)
  const kept = languages.find(each => each === stored)
  return kept ?? navigator.languages.map(nearest).find(each => each !== null) ?? 'en'
}

export async function showIn(language: Language): Promise<void> {
  if (!i18next.isInitialized)
    await i18next.init({ interpolation: { escapeValue: false }, keySeparator: false, nsSeparator: false })
  const texts = await loaders[language]()
  i18next.addResourceBundle(tags[language], 'translation', texts.default)
  await i18next.changeLanguage(tags[language])
  document.documentElement.lang = tags[language]
}

export async function choose(language: Language): Promise<void> {
  localStorage.setItem(STORED, language)
  await showIn(language)
}

export const currentLanguage = (): Language => languages.find(each => tags[each] === i18next.language) ?? 'en'
export const currentTag = (): string => tags[currentLanguage()]

export function t<K extends TextKey>(key: K, ...values: [ValueName<K>] extends [never] ? [] : [Values<K>]): string {
  const given: Record<string, string | number> | undefined = values[0]
  return given ? spaced(String(i18next.t(key, given)), i18next.language) : plainText(key)
}

/** The texts without values of the current language, as they were read: most are asked for again with each drawing. */
const plainTexts = new Map<string, string>()
i18next.on('languageChanged', () => plainTexts.clear())

function plainText(key: string): string {
  const known = plainTexts.get(key)
  if (known !== undefined) return known
  const text = spaced(String(i18next.t(key)), i18next.language)
  if (i18next.exists(key)) plainTexts.set(key, text)
  return text
}

/** A text whose values stand out: each value is drawn by `draw`, in bold unless told otherwise. */
export function rich<K extends TextKey>(
  key: K,
  values: Values<K>,
  draw: (value: string, name: string) => ReactNode = bold,
): ReactNode {
  const given: Record<string, string | number> = values
  const pattern = String(i18next.t(String(key), { ...given, skipInterpolation: true }))
  const parts = pattern.split(/\{\{(\w+)\}\}/)
  const words = parts.map((part, index) => (index % 2 ? String(given[part] ?? '') : part))
  return createElement(
    Fragment,
    null,
    ...words.map((word, index) => {
      const lead = index > 0 && needsSpace(words[index - 1] ?? '', word) ? ' ' : ''
      return createElement(Fragment, { key: index }, lead, index % 2 ? draw(word, parts[index] ?? '') : word)
    }),
  )
}

/** What stands between two sentences: in Chinese the full stop brings its own space. */
export const sentenceGap = (): string => (currentLanguage() === 'en' ? ' ' : '')

const bold = (value: string) => createElement('b', null, value)
const needsSpace = (before: string, after: string) =>
  spaced(before.slice(-1) + after.slice(0, 1), i18next.language).length > (before.slice(-1) + after.slice(0, 1)).length

export interface Texts {
  t: typeof t
  rich: typeof rich
  language: string
}

let current: Texts = { t, rich, language: '' }

function snapshot(): Texts {
  if (current.language !== i18next.language) current = { t, rich, language: i18next.language }
  return current
}

function onChange(listener: () => void): () => void {
  i18next.on('languageChanged', listener)
  return () => i18next.off('languageChanged', listener)
}

/** The texts of the current language; the component draws again when it changes. */
export const useTexts = (): Texts => useSyncExternalStore(onChange, snapshot, snapshot)
