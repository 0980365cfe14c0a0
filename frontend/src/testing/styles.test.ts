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
const nameOf = (sheet: string) => basename(sheet, '.module.css')

const withoutComments = (css: string) => css.replace(/\/\*[\s\S]*?\*\//g, '')
/** Only what stands before a brace: numbers and file names have dots, too. */
const selectorsOf = (css: string) =>
  [...withoutComments(css).matchAll(/[^{};]+(?=\{)/g)].map(([each]) => each).join(' ')
const classesIn = (selectors: string) => [...selectors.matchAll(/\.([A-Za-z][\w-]*)/g)].map(([, name = '']) => name)
const globalsIn = (selectors: string) => [...selectors.matchAll(/:global\(\.([\w-]+)\)/g)].map(([, name = '']) => name)

test('no two sheets have the same name, since classes are named by it', () => {
  expect(sheets.length).toBeGreaterThan(30)
  expect(sheets.map(nameOf).filter((name, at, all) => all.indexOf(name) !== at)).toEqual([])
})

test('a sheet names no class of another sheet, and only global classes that there are', () => {
  const known = new Set(classesIn(selectorsOf(read('styles/ground.css'))))
  // Of the highlighter, and marks without a look of their own.
  const isForeign = (name: string) => name.startsWith('hljs-') || ['end', 'short', 'spread'].includes(name)
  const unknown = sheets.flatMap(sheet =>
    globalsIn(selectorsOf(read(sheet)))
      .filter(name => !known.has(name) && !isForeign(name))
      .map(name => `${sheet}: ${name}`),
  )
  expect(unknown).toEqual([])
})

test('ui names no class of a feature or of the app', () => {
  const upper = new Set(sheets.filter(sheet => !sheet.startsWith('ui/')).map(nameOf))
  const wrong = sheets
    .filter(sheet => sheet.startsWith('ui/'))
    .flatMap(sheet => globalsIn(selectorsOf(read(sheet))).map(name => `${sheet}: ${name}`))
    .filter(each => upper.has(each.split(': ')[1]?.split('_')[0] ?? ''))
  expect(wrong).toEqual([])
})
