/** The display language: English, 繁體中文 or 简体中文, chosen by the person, by default by the browser. */
import i18next from 'i18next'
import { createElement, Fragment, type ReactNode, useSyncExternalStore } from 'react'
import { addCjkSpacing } from './spacing'
import type en from './texts/en'

export const languages = ['en', 'zh-hant', 'zh-hans'] as const
export type Language = (typeof languages)[number]

/** The name of each language in that language. */
export const languageNames: Record<Language, string> = { en: 'English', 'zh-hant': '繁體中文', 'zh-hans': '简体中文' }

const tags: Record<Language, string> = { en: 'en', 'zh-hant': 'zh-Hant', 'zh-hans': 'zh-Hans' }

type Singular<K> = K extends `${infer Stem}_one` | `${infer Stem}_other` ? Stem : K
type TextKey = Singular<keyof typeof en>

type NamesIn<Text> = Text extends `${string}{{${infer Name}}}${infer Rest}` ? Name | NamesIn<Rest> : never
/** The names of the values in a text; `count` selects its singular or plural. */
type ValueName<K extends TextKey> = K extends keyof typeof en
  ? NamesIn<(typeof en)[K]>
  : 'count' | NamesIn<(typeof en)[`${K}_${'one' | 'other'}` & keyof typeof en]>
type ValuesFor<Name extends string> = { [N in Name]: N extends 'count' ? number : string | number }
export type Values<K extends TextKey> = ValuesFor<ValueName<K>>
/** The keys of texts that need no values except these. */
export type TextKeyWith<Name extends string> = {
  [K in TextKey]: [ValueName<K>] extends [Name] ? K : never
}[TextKey]
/** The keys of texts without values. */
export type PlainTextKey = TextKeyWith<never>

const loaders: Record<Language, () => Promise<{ default: Record<string, string> }>> = {
  en: () => import('./texts/en'),
  'zh-hant': () => import('./texts/zh-hant'),
  'zh-hans': () => import('./texts/zh-hans'),
}

const STORAGE_KEY = 'atelier.language'

/** Returns the display language for a BCP 47 tag. Taiwan, Hong Kong and Macau use traditional characters. */
function matchLanguage(tag: string): Language | null {
  const lower = tag.toLowerCase()
  if (lower.startsWith('en')) return 'en'
  if (!lower.startsWith('zh')) return null
  return /hant|-tw|-hk|-mo/.test(lower) ? 'zh-hant' : 'zh-hans'
}

/** Returns the language that the person chose, or else the browser's. */
export function getChosenLanguage(): Language {
  const stored = localStorage.getItem(STORAGE_KEY)
  const storedLanguage = languages.find(language => language === stored)
  return storedLanguage ?? navigator.languages.map(matchLanguage).find(language => language !== null) ?? 'en'
}

export async function loadLanguage(language: Language): Promise<void> {
  if (!i18next.isInitialized)
    await i18next.init({ interpolation: { escapeValue: false }, keySeparator: false, nsSeparator: false })
  const texts = await loaders[language]()
  i18next.addResourceBundle(tags[language], 'translation', texts.default)
  await i18next.changeLanguage(tags[language])
  document.documentElement.lang = tags[language]
}

export async function setLanguage(language: Language): Promise<void> {
  localStorage.setItem(STORAGE_KEY, language)
  await loadLanguage(language)
}

export const currentLanguage = (): Language => languages.find(language => tags[language] === i18next.language) ?? 'en'
export const currentTag = (): string => tags[currentLanguage()]

export function t<K extends TextKey>(key: K, ...values: [ValueName<K>] extends [never] ? [] : [Values<K>]): string {
  const options: Record<string, string | number> | undefined = values[0]
  return options ? addCjkSpacing(String(i18next.t(key, options)), i18next.language) : getPlainText(key)
}

/** Cache of the texts without values in the current language, since most are read on every render. */
const plainTexts = new Map<string, string>()
i18next.on('languageChanged', () => plainTexts.clear())

function getPlainText(key: string): string {
  const cached = plainTexts.get(key)
  if (cached !== undefined) return cached
  const text = addCjkSpacing(String(i18next.t(key)), i18next.language)
  if (i18next.exists(key)) plainTexts.set(key, text)
  return text
}

/** Renders a text with each value passed through `renderValue`, by default in bold. */
export function rich<K extends TextKey>(
  key: K,
  values: Values<K>,
  renderValue: (value: string, name: string) => ReactNode = renderBold,
): ReactNode {
  const options: Record<string, string | number> = values
  const pattern = String(i18next.t(String(key), { ...options, skipInterpolation: true }))
  const parts = pattern.split(/\{\{(\w+)\}\}/)
  const segments = parts.map((part, index) => (index % 2 ? String(options[part] ?? '') : part))
  return createElement(
    Fragment,
    null,
    ...segments.map((segment, index) => {
      const lead = index > 0 && needsSpace(segments[index - 1] ?? '', segment) ? ' ' : ''
      return createElement(
        Fragment,
        { key: index },
        lead,
        index % 2 ? renderValue(segment, parts[index] ?? '') : segment,
      )
    }),
  )
}

/** Returns the separator of two sentences. In Chinese the full stop includes a space. */
export const sentenceGap = (): string => (currentLanguage().startsWith('zh') ? '' : ' ')

const renderBold = (value: string) => createElement('b', null, value)
const needsSpace = (before: string, after: string) =>
  addCjkSpacing(before.slice(-1) + after.slice(0, 1), i18next.language).length >
  (before.slice(-1) + after.slice(0, 1)).length

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

/** Returns the texts of the current language. The component renders again when it changes. */
export const useTexts = (): Texts => useSyncExternalStore(onChange, snapshot, snapshot)
