import { readFileSync } from 'node:fs'
import { afterEach, expect, test, vi } from 'vitest'
import { getChosenLanguage } from './language'
import { applyChosenTheme, chooseTheme, themes } from './theme'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const earlyScript = read('public/before-paint.js')

/** Mocks a page with stored items. Returns its dataset, which contains the theme, and the items. */
function mockPage(stored: Record<string, string> = {}) {
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

const runEarlyScript = () =>
  new Function('document', 'localStorage', 'navigator', earlyScript)(document, localStorage, navigator)

afterEach(() => vi.unstubAllGlobals())

test.each(themes)('the script before the first paint shows the theme %s like the app', theme => {
  const { items } = mockPage()
  chooseTheme(theme)
  const stored = Object.fromEntries(items)

  const { dataset: first } = mockPage(stored)
  runEarlyScript()
  const { dataset: later } = mockPage(stored)
  applyChosenTheme()

  expect(first).toEqual(theme === 'system' ? {} : { theme })
  expect(later).toEqual(first)
})

test.each<Record<string, string>>([{}, { 'atelier.theme': 'sepia' }])(
  'no theme is set for the stored items %o',
  stored => {
    const { dataset } = mockPage(stored)
    runEarlyScript()
    expect(dataset).toEqual({})
  },
)

test('the script in the head is before the module and is not deferred', () => {
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
])('the preloaded texts are those of the chosen language: %s, %o', (stored, languages) => {
  mockPage(stored === null ? {} : { 'atelier.language': stored })
  const append = vi.fn()
  const head = { append }
  vi.stubGlobal('navigator', { languages })
  const documentElement = { dataset: {}, lang: '' }
  vi.stubGlobal('document', { currentScript: { dataset: files }, documentElement, head, createElement: () => ({}) })
  runEarlyScript()
  expect(append.mock.calls).toEqual([[{ rel: 'modulepreload', href: `${getChosenLanguage()}.js` }]])
  expect(documentElement.lang.toLowerCase()).toBe(getChosenLanguage())
})
