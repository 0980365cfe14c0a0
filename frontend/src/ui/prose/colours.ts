/** Highlights code, one block after the other and with a time limit. The style sheet defines the colours. */
import { createElement, Fragment, type ReactNode } from 'react'

export interface CodeInput {
  text: string
  language: string
}

interface Tree {
  type: string
  value?: string
  properties?: { className?: unknown }
  children?: readonly Tree[]
}

/** The highlighted nodes; null if the language is unknown. */
export type HighlightedNodes = readonly Tree[] | null

/** Time limit, which includes loading the language. Ordinary code takes a few milliseconds. */
const TIMEOUT_MS = 3_000

let worker: Worker | null = null
let queue: Promise<unknown> = Promise.resolve()

/** Highlights code. Returns null if the language is unknown or the time limit was reached. */
export function highlightCode(text: string, language: string): Promise<ReactNode> {
  const highlighted = queue.then(() => runWorker({ text, language }))
  queue = highlighted
  return highlighted.then(nodes => (nodes ? createElement(Fragment, null, ...nodes.map(toReactNode)) : null))
}

function runWorker(code: CodeInput): Promise<HighlightedNodes> {
  return new Promise(resolve => {
    worker ??= new Worker(new URL('./colours.worker.ts', import.meta.url), { type: 'module' })
    const giveUp = () => {
      worker?.terminate()
      worker = null
      resolve(null)
    }
    const timer = setTimeout(giveUp, TIMEOUT_MS)
    worker.onerror = () => {
      clearTimeout(timer)
      giveUp()
    }
    worker.onmessage = (event: MessageEvent<HighlightedNodes>) => {
      clearTimeout(timer)
      resolve(event.data)
    }
    worker.postMessage(code)
  })
}

function toReactNode(tree: Tree): ReactNode {
  if (tree.type === 'text') return tree.value
  const classes = tree.properties?.className
  return createElement(
    'span',
    { className: Array.isArray(classes) ? classes.join(' ') : undefined },
    ...(tree.children ?? []).map(toReactNode),
  )
}
