/** Code in colours, as spans whose colours our style sheet gives. One block after the other, and none without end. */
import { createElement, Fragment, type ReactNode } from 'react'

export interface Uncoloured {
  text: string
  language: string
}

interface Tree {
  type: string
  value?: string
  properties?: { className?: unknown }
  children?: readonly Tree[]
}

/** Null where nobody knows the language. */
export type Coloured = readonly Tree[] | null

/** Ordinary code takes some milliseconds, and the file of its language what the network takes. */
const TIMEOUT_MS = 3_000

let worker: Worker | null = null
let queue: Promise<unknown> = Promise.resolve()

/** The code in colours, or null where it stays as it is: its language is unknown, or it would take too long. */
export function colourOf(text: string, language: string): Promise<ReactNode> {
  const coloured = queue.then(() => ask({ text, language }))
  queue = coloured
  return coloured.then(nodes => (nodes ? createElement(Fragment, null, ...nodes.map(nodeOf)) : null))
}

function ask(code: Uncoloured): Promise<Coloured> {
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
    worker.onmessage = (event: MessageEvent<Coloured>) => {
      clearTimeout(timer)
      resolve(event.data)
    }
    worker.postMessage(code)
  })
}

function nodeOf(tree: Tree): ReactNode {
  if (tree.type === 'text') return tree.value
  const classes = tree.properties?.className
  return createElement(
    'span',
    { className: Array.isArray(classes) ? classes.join(' ') : undefined },
    ...(tree.children ?? []).map(nodeOf),
  )
}
