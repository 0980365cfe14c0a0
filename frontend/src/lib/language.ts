/** The display language: English, 繁體中文 or 简体中文, chosen by the person, by default by the browser. */
import { createElement, Fragment, type ReactNode, useSyncExternalStore } from 'react'
import { observable } from './observable'
import { addCjkSpacing } from './spacing'
import type first from './texts/en'
import type lazy from './texts/en.lazy'

export const languages = ['en', 'zh-hant', 'zh-hans'] as const
export type Language = (typeof languages)[number]

/** The name of each language in that language. */
export const languageNames: Record<Language, string> = { en: 'English', 'zh-hant': '繁體中文', 'zh-hans': '简体中文' }

const tags: Record<Language, string> = { en: 'en', 'zh-hant': 'zh-Hant', 'zh-hans': 'zh-Hans' }

type English = typeof first & typeof lazy
type Singular<K> = K extends `${infer Stem}_one` | `${infer Stem}_other` ? Stem : K
type NamesIn<Text> = Text extends `${string}{{${infer Name}}}${infer Rest}` ? Name | NamesIn<Rest> : never
/** The names of the values in each text; `count` selects its singular or plural. */
type ValueNames = {
  [K in keyof English as Singular<K>]: NamesIn<English[K]> | (K extends Singular<K> ? never : 'count')
}
type TextKey = keyof ValueNames
type ValueName<K extends TextKey> = ValueNames[K]
type ValuesFor<Name extends string> = { [N in Name]: N extends 'count' ? number : string | number }
export type Values<K extends TextKey> = ValuesFor<ValueName<K>>
/** The keys of texts that need no values except these. */
export type TextKeyWith<Name extends string> = {
  [K in TextKey]: [ValueName<K>] extends [Name] ? K : never
}[TextKey]
/** The keys of texts without values. */
export type PlainTextKey = TextKeyWith<never>

interface Part {
  default: Record<string, string>
}
/** The texts of the first page, and those of lazy parts (`ui/lazy.tsx`), which are loaded with the first such part. */
const loaders: Record<Language, { first: () => Promise<Part>; lazy: () => Promise<Part> }> = {
  en: { first: () => import('./texts/en'), lazy: () => import('./texts/en.lazy') },
  'zh-hant': { first: () => import('./texts/zh-hant'), lazy: () => import('./texts/zh-hant.lazy') },
  'zh-hans': { first: () => import('./texts/zh-hans'), lazy: () => import('./texts/zh-hans.lazy') },
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

export interface Texts {
  t: typeof t
  rich: typeof rich
  language: string
}

let loaded: Record<string, string> = {}
let needsLazyTexts = false
/** The language that was chosen last, whose texts may still be loading. */
let newest: Language = 'en'
let plural = new Intl.PluralRules('en')
const current = observable<Texts>({ t, rich, language: tags.en })
/** Cache of the texts without values in the current language, since most are read on every render. */
const plainTexts = new Map<string, string>()

export async function loadLanguage(language: Language): Promise<void> {
  newest = language
  const first = await loaders[language].first()
  const lazy = needsLazyTexts ? await loaders[language].lazy() : null
  if (newest !== language) return // another one has been chosen meanwhile
  const tag = tags[language]
  loaded = { ...first.default, ...lazy?.default }
  plural = new Intl.PluralRules(tag)
  plainTexts.clear()
  // The landing page is rendered without a document.
  if (typeof document !== 'undefined') document.documentElement.lang = tag
  current.set({ t, rich, language: tag })
}

/** Loads the texts that the first page does without. Raises an error if the file is missing, as `import()` does. */
export async function loadLazyTexts(): Promise<void> {
  needsLazyTexts = true
  const language = currentLanguage()
  const lazy = await loaders[language].lazy()
  // If another language has been chosen meanwhile, `loadLanguage` has loaded its lazy texts, too.
  if (language === currentLanguage()) Object.assign(loaded, lazy.default)
}

export async function setLanguage(language: Language): Promise<void> {
  await loadLanguage(language)
  if (newest === language) localStorage.setItem(STORAGE_KEY, language)
}

export const currentTag = (): string => current.get().language
export const currentLanguage = (): Language => languages.find(language => tags[language] === currentTag()) ?? 'en'

/** Returns the text with its placeholders; the key if the text is missing. `count` selects the plural. */
const findPattern = (key: string, count?: string | number) =>
  (typeof count === 'number' ? loaded[`${key}_${plural.select(count)}`] : undefined) ?? loaded[key] ?? key

export function t<K extends TextKey>(key: K, ...values: [ValueName<K>] extends [never] ? [] : [Values<K>]): string {
  const options: Record<string, string | number> | undefined = values[0]
  if (!options) return getPlainText(key)
  const text = findPattern(key, options['count']).replace(/\{\{(\w+)\}\}/g, (_, name) => String(options[name] ?? ''))
  return addCjkSpacing(text, currentTag())
}

function getPlainText(key: string): string {
  const cached = plainTexts.get(key)
  if (cached !== undefined) return cached
  const text = addCjkSpacing(findPattern(key), currentTag())
  if (key in loaded) plainTexts.set(key, text)
  return text
}

/**
 * Renders a text with each value passed through `renderValue`, by default in bold, with a space between Chinese and Latin
 * characters, as in `t`.
 */
export function rich<K extends TextKey>(
  key: K,
  values: Values<K>,
  renderValue: (value: string, name: string) => ReactNode = renderBold,
): ReactNode {
  const options: Record<string, string | number> = values
  // With a group in the expression, the parts at odd indexes are the names of the values.
  const parts = findPattern(String(key), options['count']).split(/\{\{(\w+)\}\}/)
  const segments = parts.map((part, index) => (index % 2 ? String(options[part] ?? '') : part))
  return createElement(
    Fragment,
    null,
    ...segments.map((segment, index) => {
      const space = index > 0 && needsSpace(segments[index - 1] ?? '', segment) ? ' ' : ''
      return createElement(
        Fragment,
        { key: index },
        space,
        index % 2 ? renderValue(segment, parts[index] ?? '') : segment,
      )
    }),
  )
}

/** Returns the separator of two sentences. In Chinese the full stop includes a space. */
export const sentenceGap = (): string => (currentLanguage().startsWith('zh') ? '' : ' ')

const renderBold = (value: string) => createElement('b', null, value)

function needsSpace(before: string, after: string): boolean {
  const pair = before.slice(-1) + after.slice(0, 1)
  return addCjkSpacing(pair, currentTag()) !== pair
}

/** Returns the texts of the current language. The component renders again when it changes. */
export const useTexts = (): Texts => useSyncExternalStore(current.subscribe, current.get, current.get)
