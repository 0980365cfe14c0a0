import { readFileSync } from 'node:fs'
import { afterEach, expect, test, vi } from 'vitest'
import { chosenLanguage } from './language'
import { chooseTheme, showChosenTheme, themes } from './theme'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const early = read('public/before-paint.js')

/** A page with these items stored; the theme it shows. */
function page(stored: Record<string, string> = {}) {
  const dataset: Record<string, string> = {}
  const items = new Map(Object.entries(stored))
  vi.stubGlobal('document', { documentElement: { dataset } })
  vi.stubGlobal('navigator', { languages: ['en'] })
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
  })
  return { dataset, items }
}

const runEarly = () => new Function('document', 'localStorage', 'navigator', early)(document, localStorage, navigator)

afterEach(() => vi.unstubAllGlobals())

test.each(themes)('the script before the first paint shows the choice %s as the app does', theme => {
  const { items } = page()
  chooseTheme(theme)
  const stored = Object.fromEntries(items)

  const { dataset: first } = page(stored)
  runEarly()
  const { dataset: later } = page(stored)
  showChosenTheme()

  expect(first).toEqual(theme === 'system' ? {} : { theme })
  expect(later).toEqual(first)
})

test.each<Record<string, string>>([{}, { 'atelier.theme': 'sepia' }])('no theme is shown for %o', stored => {
  const { dataset } = page(stored)
  runEarly()
  expect(dataset).toEqual({})
})

test('the script blocks: it stands in the head, before the module, with nothing that delays it', () => {
  const head = read('index.html').split('</head>')[0] ?? ''
  expect(head).toContain('<script src="/before-paint.js"></script>')
  expect(head).not.toContain('type="module"')
})

const files = { en: 'en.js', zhHant: 'zh-hant.js', zhHans: 'zh-hans.js' }

test.each<[string | null, string[]]>([
  [null, ['de-CH', 'zh-TW', 'en']],
  [null, ['zh-CN']],
  [null, ['zh']],
  [null, ['fr']],
  [null, []],
  ['zh-hans', ['en-GB']],
  ['en', ['zh-HK']],
  ['klingon', ['zh-MO']],
])('the texts asked for early are those of the language chosen: %s, %o', (stored, languages) => {
  page(stored === null ? {} : { 'atelier.language': stored })
  const append = vi.fn()
  const head = { append }
  vi.stubGlobal('navigator', { languages })
  vi.stubGlobal('document', { currentScript: { dataset: files }, head, createElement: () => ({}) })
  runEarly()
  expect(append.mock.calls).toEqual([[{ rel: 'modulepreload', href: `${chosenLanguage()}.js` }]])
})
