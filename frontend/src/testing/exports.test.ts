import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const src = fileURLToPath(new URL('..', import.meta.url))

const files = readdirSync(src, { recursive: true, withFileTypes: true })
  .filter(entry => entry.isFile() && /\.tsx?$/.test(entry.name))
  .map(entry => relative(src, join(entry.parentPath, entry.name)))
  .filter(file => !file.startsWith('api/generated/'))
/** What the build puts in the place of a package is taken by other packages. */
const build = readFileSync(join(src, '../vite.config.ts'), 'utf8')
const sources = new Map(files.map(file => [file, readFileSync(join(src, file), 'utf8')]))

/** The file, from src, that a path names; null for a package. */
function targetOf(file: string, path: string): string | null {
  const target = path.startsWith('@/') ? path.slice(2) : path.startsWith('.') ? join(dirname(file), path) : null
  const endings = ['', '.ts', '.tsx', '/index.ts']
  return target === null ? null : (endings.map(ending => target + ending).find(name => sources.has(name)) ?? null)
}

/** `a, type b as c` → a and b, by the names that they have there, or here. */
const namesIn = (list: string, side: 'there' | 'here') =>
  list
    .split(',')
    .map(each => each.replace(/^\s*type\s/, '').trim())
    .filter(Boolean)
    .map(each => each.split(/\s+as\s+/).at(side === 'there' ? 0 : -1) ?? '')

const from = /(import|export)\s+(?:type\s+)?(?:\w+,\s*)?\{([^}]*)\}\s*from\s*'([^']+)'/g
const star = /export\s+(?:type\s+)?\*\s*from\s*'([^']+)'/g
const late = /import\('([^']+)'\)(?:\.then\(\w+ => \(\{ default: \w+\.(\w+))?(?:,\s*'(\w+)')?/g
const declared =
  /^export (?:declare )?(?:async )?(?:abstract )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm

/** What one file takes of others, as `file name`. A list of names that are passed on is used where they are taken. */
function importsOf(file: string, source: string): string[] {
  const named = [...source.matchAll(from)].flatMap(([, , list = '', path = '']) => {
    const target = targetOf(file, path)
    return target === null ? [] : namesIn(list, 'there').map(name => `${target} ${name}`)
  })
  const lazy = [...source.matchAll(late)].flatMap(([, path = '', ...names]) =>
    names.filter(Boolean).map(name => `${targetOf(file, path)} ${name}`),
  )
  return [...named, ...lazy]
}

/** What one file gives to others: what it declares, and what it passes on by name. */
function exportsOf(source: string): string[] {
  const passed = [...source.matchAll(from)].filter(([, word]) => word === 'export')
  return [
    ...[...source.matchAll(declared)].map(([, name = '']) => name),
    ...passed.flatMap(([, , list = '']) => namesIn(list, 'here')),
  ]
}

function unused(): string[] {
  const imported = new Set([...sources].flatMap(([file, source]) => importsOf(file, source)))
  // What is taken of a file that passes everything on is taken of those that it passes on.
  for (const [file, source] of sources)
    for (const [, path = ''] of source.matchAll(star))
      for (const name of exportsOf(sources.get(targetOf(file, path) ?? '') ?? ''))
        if (imported.has(`${file} ${name}`)) imported.add(`${targetOf(file, path)} ${name}`)
  return [...sources]
    .filter(([file]) => !/\.c?test\.tsx?$/.test(file) && !build.includes(`./src/${file}`))
    .flatMap(([file, source]) => exportsOf(source).map(name => `${file} ${name}`))
    .filter(each => !imported.has(each))
}

test('nothing is exported that no other file takes', () => {
  expect(existsSync(join(src, 'app/main.tsx'))).toBe(true)
  expect(unused()).toEqual([])
})
