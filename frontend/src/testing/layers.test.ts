import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const src = fileURLToPath(new URL('..', import.meta.url))

/** What each layer may import of the others, however the path is written. `testing` is for tests alone. */
const allowed: Record<string, readonly string[]> = {
  lib: [],
  ui: ['lib'],
  api: ['lib'],
  realtime: ['lib', 'api'],
  features: ['lib', 'ui', 'api', 'realtime'],
  app: ['lib', 'ui', 'api', 'realtime', 'features', 'styles', 'assets'],
}

const importing = /(?:\bfrom|\bimport)\s*\(?\s*['"]([^'"]+)['"]/g

/** The file that a path names, from src; nothing for a package. */
function targetOf(file: string, path: string): string | null {
  if (path.startsWith('@/')) return path.slice(2)
  return path.startsWith('.') ? join(dirname(file), path) : null
}

/** Why `file` may not import `target`, both from src; null if it may. */
function refusal(file: string, target: string): string | null {
  const [layer = '', feature] = file.split('/')
  const [other = '', otherFeature, ...inside] = target.split('/')
  if (other === '..') return `${file} reaches out of src: ${target}`
  if (other !== layer)
    return allowed[layer]?.includes(other) ? deep(file, other, inside, target) : `${file} → ${target}`
  return layer === 'features' && feature !== otherFeature ? deep(file, other, inside, target) : null
}

const deep = (file: string, other: string, inside: readonly string[], target: string) =>
  other === 'features' && inside.length > 0 ? `${file} looks inside a feature: ${target}` : null

function refusals(file: string, source: string): string[] {
  const targets = [...source.matchAll(importing)].map(([, path = '']) => targetOf(file, path))
  return targets.flatMap(target => (target === null ? [] : (refusal(file, target) ?? [])))
}

const files = readdirSync(src, { recursive: true, withFileTypes: true })
  .filter(entry => entry.isFile() && /\.tsx?$/.test(entry.name) && !/\.(c?test|testing)\.tsx?$/.test(entry.name))
  .map(entry => relative(src, join(entry.parentPath, entry.name)))
  .filter(file => !file.startsWith('testing/'))

test('every file imports only what its layer may, by alias or by a relative path', () => {
  expect(files.length).toBeGreaterThan(200)
  expect(files.flatMap(file => refusals(file, readFileSync(join(src, file), 'utf8')))).toEqual([])
})

test.each([
  ['lib/time.ts', "import { get } from '../api/client'"],
  ['lib/time.ts', "const later = import('../ui/Button')"],
  ['ui/prose/parts.tsx', "export { Person } from '../../api'"],
  ['realtime/chat.ts', "import '../features/chats'"],
  ['features/chats/hooks.ts', "import { useTitle } from '../../app/names'"],
  ['features/chats/hooks.ts', "import { layers } from '../agents/workshop/layers'"],
  ['app/Shell.tsx', "import { useFindActor } from '../features/chats/hooks'"],
  ['app/Shell.tsx', "import config from '../../vite.config'"],
  ['app/Shell.tsx', "import {\n  a,\n} from '@/testing/components'"],
])('%s may not hold: %s', (file, source) => {
  expect(refusals(file, source)).toHaveLength(1)
})

test.each([
  ['lib/time.ts', "import { t } from './language'"],
  ['ui/prose/parts.tsx', "import { copyText } from '../copy'"],
  ['features/chats/hooks.ts', "import { useAgentName } from '../agents'"],
  ['app/Shell.tsx', "import { ChatPage } from '../features/chats'"],
  ['app/Shell.tsx', "import { useState } from 'react'"],
])('%s may hold: %s', (file, source) => {
  expect(refusals(file, source)).toEqual([])
})
