/** Highlights code with highlight.js in a worker, because some code takes seconds. */
import type { LanguageFn } from 'highlight.js'
import { createLowlight } from 'lowlight'
import type { CodeInput, HighlightedNodes } from './colours'

const lowlight = createLowlight()

const loaders = new Map<string, () => Promise<{ default: LanguageFn }>>(
  Object.entries({
    bash: () => import('highlight.js/lib/languages/bash'),
    c: () => import('highlight.js/lib/languages/c'),
    cpp: () => import('highlight.js/lib/languages/cpp'),
    css: () => import('highlight.js/lib/languages/css'),
    diff: () => import('highlight.js/lib/languages/diff'),
    go: () => import('highlight.js/lib/languages/go'),
    java: () => import('highlight.js/lib/languages/java'),
    javascript: () => import('highlight.js/lib/languages/javascript'),
    json: () => import('highlight.js/lib/languages/json'),
    python: () => import('highlight.js/lib/languages/python'),
    rust: () => import('highlight.js/lib/languages/rust'),
    sql: () => import('highlight.js/lib/languages/sql'),
    typescript: () => import('highlight.js/lib/languages/typescript'),
    xml: () => import('highlight.js/lib/languages/xml'),
    yaml: () => import('highlight.js/lib/languages/yaml'),
  }),
)

const languageAliases = new Map(
  Object.entries({
    sh: 'bash',
    shell: 'bash',
    zsh: 'bash',
    console: 'bash',
    'c++': 'cpp',
    html: 'xml',
    svg: 'xml',
    js: 'javascript',
    jsx: 'javascript',
    mjs: 'javascript',
    py: 'python',
    python3: 'python',
    rs: 'rust',
    ts: 'typescript',
    tsx: 'typescript',
    yml: 'yaml',
    golang: 'go',
    patch: 'diff',
  }),
)

async function highlight({ text, language }: CodeInput): Promise<HighlightedNodes> {
  const requested = language.toLowerCase()
  const name = languageAliases.get(requested) ?? requested
  const load = loaders.get(name)
  if (!load) return null
  if (!lowlight.registered(name)) lowlight.register(name, (await load()).default)
  return lowlight.highlight(name, text).children as HighlightedNodes
}

self.onmessage = (event: MessageEvent<CodeInput>) => {
  highlight(event.data).then(
    nodes => self.postMessage(nodes),
    () => self.postMessage(null),
  )
}
