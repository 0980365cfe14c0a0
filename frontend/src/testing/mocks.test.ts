import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const src = fileURLToPath(new URL('..', import.meta.url))

test('tests replace the network and no module of ours', () => {
  const tests = readdirSync(src, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && /\.c?test\.tsx?$/.test(entry.name))
    .map(entry => join(entry.parentPath, entry.name))
  expect(tests.length).toBeGreaterThan(80)
  const replaced = tests.flatMap(file =>
    [...readFileSync(file, 'utf8').matchAll(/vi\.(?:do)?[mM]ock\(\s*(?:import\()?['"]((?:@\/|\.)[^'"]*)/g)].map(
      ([, path]) => `${relative(src, file)}: ${path}`,
    ),
  )
  expect(replaced).toEqual([])
})
