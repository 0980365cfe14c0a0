import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build, type Rolldown } from 'vite'
import { beforeAll, expect, test, vi } from 'vitest'
import firstTexts from '@/lib/texts/en'
import lazyTexts from '@/lib/texts/en.lazy'

/** The most gzipped JavaScript that a page with an open chat may load, in bytes. */
const LIMIT = 250_000

const root = fileURLToPath(new URL('../..', import.meta.url))
let chunks: Rolldown.OutputChunk[] = []

beforeAll(async () => {
  // Without it, the build contains the development versions of React and of our components.
  vi.stubEnv('NODE_ENV', 'production')
  const built = await build({ root, logLevel: 'error', build: { write: false } })
  if (Array.isArray(built) || !('output' in built)) throw new Error('The build has several outputs.')
  chunks = built.output.filter(file => file.type === 'chunk')
  vi.unstubAllEnvs()
}, 120_000)

/** Lists the files that a page with an open chat loads: the app, the texts of the first page, Markdown, and what they import. */
function listFirstChunks(): Rolldown.OutputChunk[] {
  const loaded = new Set<Rolldown.OutputChunk>()
  const load = (chunk: Rolldown.OutputChunk | undefined) => {
    if (!chunk || loaded.has(chunk)) return
    loaded.add(chunk)
    for (const name of chunk.imports) load(chunks.find(({ fileName }) => fileName === name))
  }
  for (const chunk of chunks)
    if (chunk.isEntry || /(src\/lib\/texts\/en\.ts|src\/ui\/prose\/Prose\.tsx)$/.test(chunk.facadeModuleId ?? ''))
      load(chunk)
  return [...loaded]
}

test('a page with an open chat loads little JavaScript', () => {
  const sizes = listFirstChunks().map(({ fileName, code }) => ({
    fileName,
    bytes: gzipSync(code, { level: 9 }).length,
  }))
  expect(sizes.length).toBeGreaterThan(3)
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0)
  expect(total, JSON.stringify(sizes)).toBeLessThan(LIMIT)
})

/** Lists the keys among `keys` that the code contains as a string, or by the beginning or the end of a template. */
function findKeys(code: string, keys: readonly string[]): string[] {
  const strings = new Set([...code.matchAll(/(?<=[`'"])([\w.-]+)(?=[`'"])/g)].map(([text]) => text))
  const beginnings = [...code.matchAll(/`([\w.-]{2,})\$\{/g)].map(([, beginning = '']) => beginning)
  const ends = [...code.matchAll(/`\$\{\w+\}(\w{2,})`/g)].map(([, end = '']) => end)
  return keys.filter(key => {
    const stem = key.replace(/_(one|other)$/, '')
    const bases = ends.filter(end => stem.endsWith(end)).map(end => stem.slice(0, -end.length))
    if (bases.some(base => base.includes('.') && strings.has(base))) return true
    return strings.has(key) || strings.has(stem) || beginnings.some(beginning => stem.startsWith(beginning))
  })
}

test('the first page uses no text that is loaded with lazy parts', () => {
  const code = listFirstChunks()
    .filter(({ facadeModuleId }) => !facadeModuleId?.includes('/texts/'))
    .map(chunk => chunk.code)
    .join('\n')
  expect(findKeys(code, Object.keys(firstTexts)).length).toBeGreaterThan(200)
  expect(findKeys(code, Object.keys(lazyTexts))).toEqual([])
})
