import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const src = fileURLToPath(new URL('..', import.meta.url))

/** The other layers that each layer may import, by alias or relative path. `testing` is for tests only. */
const allowed: Record<string, readonly string[]> = {
  lib: [],
  ui: ['lib'],
  api: ['lib'],
  realtime: ['lib', 'api'],
  features: ['lib', 'ui', 'api', 'realtime'],
  app: ['lib', 'ui', 'api', 'realtime', 'features', 'styles', 'assets'],
}

const importing = /(?:\bfrom|\bimport)\s*\(?\s*['"]([^'"]+)['"]/g

/** Resolves an import path to a path below src; null for a package. */
function resolveImport(file: string, path: string): string | null {
  if (path.startsWith('@/')) return path.slice(2)
  return path.startsWith('.') ? join(dirname(file), path) : null
}

/** Describes why `file` may not import `target` (paths below src); null if it may. */
function findViolation(file: string, target: string): string | null {
  const [layer = '', feature] = file.split('/')
  const [other = '', otherFeature, ...inside] = target.split('/')
  if (other === '..') return `${file} imports from outside src: ${target}`
  if (other !== layer)
    return allowed[layer]?.includes(other) ? findDeepImport(file, other, inside, target) : `${file} → ${target}`
  return layer === 'features' && feature !== otherFeature ? findDeepImport(file, other, inside, target) : null
}

const findDeepImport = (file: string, other: string, inside: readonly string[], target: string) =>
  other === 'features' && inside.length > 0 ? `${file} imports the inside of a feature: ${target}` : null

function listViolations(file: string, source: string): string[] {
  const targets = [...source.matchAll(importing)].map(([, path = '']) => resolveImport(file, path))
  return targets.flatMap(target => (target === null ? [] : (findViolation(file, target) ?? [])))
}

const files = readdirSync(src, { recursive: true, withFileTypes: true })
  .filter(entry => entry.isFile() && /\.tsx?$/.test(entry.name) && !/\.(c?test|testing)\.tsx?$/.test(entry.name))
  .map(entry => relative(src, join(entry.parentPath, entry.name)))
  .filter(file => !file.startsWith('testing/'))

test('every file imports only the layers that its layer may', () => {
  expect(files.length).toBeGreaterThan(200)
  expect(files.flatMap(file => listViolations(file, readFileSync(join(src, file), 'utf8')))).toEqual([])
})

test.each([
  ['lib/time.ts', "import { get } from '../api/client'"],
  ['lib/time.ts', "const later = import('../ui/Button')"],
  ['ui/prose/parts.tsx', "export { Person } from '../../api'"],
  ['realtime/chat.ts', "import '../features/chats'"],
  ['features/chats/hooks.ts', "import { useTitle } from '../../app/unreadTitle'"],
  ['features/chats/hooks.ts', "import { layers } from '../agents/workshop/layers'"],
  ['app/Shell.tsx', "import { useFindActor } from '../features/chats/hooks'"],
  ['app/Shell.tsx', "import config from '../../vite.config'"],
  ['app/Shell.tsx', "import {\n  a,\n} from '@/testing/components'"],
])('%s may not contain: %s', (file, source) => {
  expect(listViolations(file, source)).toHaveLength(1)
})

test.each([
  ['lib/time.ts', "import { t } from './language'"],
  ['ui/prose/parts.tsx', "import { copyText } from '../copy'"],
  ['features/chats/hooks.ts', "import { useAgentName } from '../agents'"],
  ['app/Shell.tsx', "import { ChatPage } from '../features/chats'"],
  ['app/Shell.tsx', "import { useState } from 'react'"],
])('%s may contain: %s', (file, source) => {
  expect(listViolations(file, source)).toEqual([])
})
