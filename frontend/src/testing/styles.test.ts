import { readdirSync, readFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const src = fileURLToPath(new URL('..', import.meta.url))

const files = readdirSync(src, { recursive: true, withFileTypes: true })
  .filter(entry => entry.isFile())
  .map(entry => relative(src, join(entry.parentPath, entry.name)))
const read = (file: string) => readFileSync(join(src, file), 'utf8')
const sheets = files.filter(file => file.endsWith('.module.css'))
const getSheetName = (sheet: string) => basename(sheet, '.module.css')

const removeComments = (css: string) => css.replace(/\/\*[\s\S]*?\*\//g, '')
/** Extracts the selectors, because dots also occur in numbers and file names. */
const extractSelectors = (css: string) =>
  [...removeComments(css).matchAll(/[^{};]+(?=\{)/g)].map(([selector]) => selector).join(' ')
const listClasses = (selectors: string) => [...selectors.matchAll(/\.([A-Za-z][\w-]*)/g)].map(([, name = '']) => name)
const listGlobalClasses = (selectors: string) =>
  [...selectors.matchAll(/:global\(\.([\w-]+)\)/g)].map(([, name = '']) => name)

test('style sheets have distinct names, because class names contain them', () => {
  expect(sheets.length).toBeGreaterThan(30)
  expect(sheets.map(getSheetName).filter((name, at, all) => all.indexOf(name) !== at)).toEqual([])
})

test('a style sheet uses only global classes that exist', () => {
  const known = new Set(listClasses(extractSelectors(read('styles/ground.css'))))
  // Classes of highlight.js, and utility classes without rules of their own.
  const isForeign = (name: string) => name.startsWith('hljs-') || ['end', 'short', 'spread'].includes(name)
  const unknown = sheets.flatMap(sheet =>
    listGlobalClasses(extractSelectors(read(sheet)))
      .filter(name => !known.has(name) && !isForeign(name))
      .map(name => `${sheet}: ${name}`),
  )
  expect(unknown).toEqual([])
})

test('ui uses no class of a feature or of the app', () => {
  const upper = new Set(sheets.filter(sheet => !sheet.startsWith('ui/')).map(getSheetName))
  const wrong = sheets
    .filter(sheet => sheet.startsWith('ui/'))
    .flatMap(sheet => listGlobalClasses(extractSelectors(read(sheet))).map(name => `${sheet}: ${name}`))
    .filter(rule => upper.has(rule.split(': ')[1]?.split('_')[0] ?? ''))
  expect(wrong).toEqual([])
})
