import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const src = fileURLToPath(new URL('..', import.meta.url))

const files = readdirSync(src, { recursive: true, withFileTypes: true })
  .filter(entry => entry.isFile() && /\.tsx?$/.test(entry.name))
  .map(entry => relative(src, join(entry.parentPath, entry.name)))
  .filter(file => !file.startsWith('api/generated/'))
/** The build configuration, which replaces a package by a file of ours. */
const build = readFileSync(join(src, '../vite.config.ts'), 'utf8')
const sources = new Map(files.map(file => [file, readFileSync(join(src, file), 'utf8')]))

/** Resolves an import path to a file below src; null for a package. */
function resolveImport(file: string, path: string): string | null {
  const target = path.startsWith('@/') ? path.slice(2) : path.startsWith('.') ? join(dirname(file), path) : null
  const endings = ['', '.ts', '.tsx', '/index.ts']
  return target === null ? null : (endings.map(ending => target + ending).find(name => sources.has(name)) ?? null)
}

/** Lists the names in `a, type b as c`: the imported ones (a, b) or the local ones (a, c). */
const listNames = (list: string, side: 'imported' | 'local') =>
  list
    .split(',')
    .map(name => name.replace(/^\s*type\s/, '').trim())
    .filter(Boolean)
    .map(name => name.split(/\s+as\s+/).at(side === 'imported' ? 0 : -1) ?? '')

const namedImport = /(import|export)\s+(?:type\s+)?(?:\w+,\s*)?\{([^}]*)\}\s*from\s*'([^']+)'/g
const starExport = /export\s+(?:type\s+)?\*\s*from\s*'([^']+)'/g
const lazyImport = /import\('([^']+)'\)(?:\.then\(\w+ => \(\{ default: \w+\.(\w+))?(?:,\s*'(\w+)')?/g
/** A function that loads a module: `const load = () => import('./module')`, used as in `const { a, b } = await load()`. */
const loader = /const (\w+) = \(\) => import\('([^']+)'\)/g
const declaration =
  /^export (?:declare )?(?:async )?(?:abstract )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm

/** Lists the imports of a file, as `file name`. Re-exported names count as imports, too. */
function listImports(file: string, source: string): string[] {
  const named = [...source.matchAll(namedImport)].flatMap(([, , list = '', path = '']) => {
    const target = resolveImport(file, path)
    return target === null ? [] : listNames(list, 'imported').map(name => `${target} ${name}`)
  })
  const lazy = [...source.matchAll(lazyImport)].flatMap(([, path = '', ...names]) =>
    names.filter(Boolean).map(name => `${resolveImport(file, path)} ${name}`),
  )
  const loaded = [...source.matchAll(loader)].flatMap(([, load, path = '']) =>
    [...source.matchAll(new RegExp(`\\{([^{}]*)\\} = await ${load}\\(\\)`, 'g'))].flatMap(([, list = '']) =>
      listNames(list, 'imported').map(name => `${resolveImport(file, path)} ${name}`),
    ),
  )
  return [...named, ...lazy, ...loaded]
}

/** Lists the exports of a file: declarations and names that it re-exports. */
function listExports(source: string): string[] {
  const reExports = [...source.matchAll(namedImport)].filter(([, word]) => word === 'export')
  return [
    ...[...source.matchAll(declaration)].map(([, name = '']) => name),
    ...reExports.flatMap(([, , list = '']) => listNames(list, 'local')),
  ]
}

function listUnusedExports(): string[] {
  const imported = new Set([...sources].flatMap(([file, source]) => listImports(file, source)))
  // An import from a file with `export *` is an import from the files that it re-exports.
  for (const [file, source] of sources)
    for (const [, path = ''] of source.matchAll(starExport))
      for (const name of listExports(sources.get(resolveImport(file, path) ?? '') ?? ''))
        if (imported.has(`${file} ${name}`)) imported.add(`${resolveImport(file, path)} ${name}`)
  return [...sources]
    .filter(([file]) => !/\.c?test\.tsx?$/.test(file) && !build.includes(`./src/${file}`))
    .flatMap(([file, source]) => listExports(source).map(name => `${file} ${name}`))
    .filter(name => !imported.has(name))
}

test('every export is imported by another file', () => {
  expect(existsSync(join(src, 'app/main.tsx'))).toBe(true)
  expect(listUnusedExports()).toEqual([])
})
