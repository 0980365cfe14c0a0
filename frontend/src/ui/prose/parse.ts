/** Markdown as tokens, cut into blocks that are drawn one by one. Pure; no text makes it slow, deep or silent. */
import MarkdownIt, { type Env, type Token } from 'markdown-it'

/** Farther than this a text is shown as it is, on demand. */
export const MAX_MARKDOWN = 100_000
/** A text of more tokens than this is shown as it was written. */
const MAX_TOKENS = 10_000
const MAX_DEPTH = 40

export const markdown = new MarkdownIt({ html: false, linkify: true, maxNesting: MAX_DEPTH })

/** An address that somebody began with "www." is one, too. Other bare names ("setup.py") are not. */
markdown.linkify.add('www.', {
  validate: (text, at) => {
    const found = /^[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+(?:\/[^\s<>()[\]]*)?/u.exec(text.slice(at, at + 2_000))
    return found ? found[0].replace(/[.,:;!?'"*_~]+$/, '').length : 0
  },
  normalize: match => {
    match.url = `https://${match.url}`
  },
})

/** Move the box that begins an item of a task list from the item's text to its `meta`. */
markdown.core.ruler.push('tasks', ({ tokens }) => {
  tokens.forEach((item, index) => {
    const [paragraph, inline] = tokens.slice(index + 1, index + 3)
    const text = inline?.children?.[0]
    if (item.type !== 'list_item_open' || paragraph?.type !== 'paragraph_open' || text?.type !== 'text') return
    const box = /^\[([ xX])\]\s/.exec(text.content)
    if (!box) return
    item.meta = { isDone: box[1] !== ' ' } satisfies Task
    text.content = text.content.slice(box[0].length)
  })
})

/** What an item of a task list has in its `meta`. */
export interface Task {
  isDone: boolean
}

/** A top-level block, or an item of a top-level list: the smallest part that is drawn anew. */
export interface Part {
  /** Parts of the same source are drawn the same. */
  source: string
  tokens: readonly Token[]
  /** Set for a list: its items, each drawn by itself. */
  items?: readonly Part[]
}

interface Parsed {
  text: string
  /** Null: it is too large or too deep, and will be so however it goes on. */
  parts: readonly Part[] | null
  tokenCount: number
  /** So many parts stay as they are when the text grows, and what follows begins at this position. */
  stable: { parts: number; at: number }
}

/** A text in the making: remembers what of it cannot change any more. */
export class Parser {
  private last: Parsed = nothing

  /** The parts of a text, or null when it must be shown as it was written. */
  parse(written: string): readonly Part[] | null {
    const text = written.includes('\r') ? written.replace(/\r\n?/g, '\n') : written
    if (text !== this.last.text) this.last = after(this.last, text)
    return this.last.parts
  }
}

const nothing: Parsed = { text: '', parts: [], tokenCount: 0, stable: { parts: 0, at: 0 } }

function after(known: Parsed, text: string): Parsed {
  if (text.length > MAX_MARKDOWN) return { ...nothing, text, parts: null }
  if (known === nothing) return parseCached(text)
  if (known.parts === null && text.startsWith(known.text)) return { ...known, text }
  if (known.stable.at > 0 && text.startsWith(known.text.slice(0, known.stable.at))) return parseContinued(known, text)
  return parseAll(text)
}

/** What was read lately: who scrolls back finds it drawn at once. The latest comes last. */
const cache = new Map<string, Parsed>()
const MAX_CACHED = 400_000
let cachedLength = 0

function parseCached(text: string): Parsed {
  const known = cache.get(text) ?? parseAll(text)
  if (!cache.delete(text)) cachedLength += text.length
  cache.set(text, known)
  for (const oldest of cache.keys()) {
    if (cachedLength <= MAX_CACHED) break
    cache.delete(oldest)
    cachedLength -= oldest.length
  }
  return known
}

function parseAll(text: string): Parsed {
  const environment: Env = {}
  const tokens = markdown.parse(text, environment)
  const tokenCount = countOf(tokens)
  if (tokenCount > MAX_TOKENS) return { ...nothing, text, parts: null }
  const references = JSON.stringify(environment.references ?? {})
  const { parts, starts } = partsOf(text, tokens, references)
  // A definition far below changes what stands above: then nothing is sure.
  const stable = references === '{}' ? stableIn(text, starts) : nothing.stable
  return { text, parts, tokenCount, stable }
}

/** What is firm needs not to be read again. */
function parseContinued(known: Parsed, text: string): Parsed {
  const environment: Env = {}
  const before = known.parts?.slice(0, known.stable.parts) ?? []
  const changed = known.parts?.slice(known.stable.parts) ?? []
  const tail = text.slice(known.stable.at)
  const tokens = markdown.parse(tail, environment)
  const tokenCount = changed.reduce((count, part) => count - countOf(part.tokens), known.tokenCount) + countOf(tokens)
  if (Object.keys(environment.references ?? {}).length > 0 || tokenCount > MAX_TOKENS) return parseAll(text)
  const { parts, starts } = partsOf(tail, tokens, '{}')
  const stable = stableIn(tail, starts)
  return {
    text,
    parts: [...before, ...parts],
    tokenCount,
    stable: { parts: before.length + stable.parts, at: known.stable.at + stable.at },
  }
}

/** The last block can still change; and whether it is one can, until its first line has ended. */
function stableIn(text: string, starts: readonly number[]): Parsed['stable'] {
  const isLineOpen = text.indexOf('\n', starts.at(-1) ?? 0) < 0
  const parts = Math.max(0, starts.length - (isLineOpen ? 2 : 1))
  return { parts, at: starts[parts] ?? 0 }
}

/** How many there are; without end where they are too deep: there the parser drops text without a word. */
function countOf(tokens: readonly Token[]): number {
  let count = tokens.length
  for (const token of tokens) {
    if (token.level >= MAX_DEPTH - 2) return Number.POSITIVE_INFINITY
    if (token.children) count += countOf(token.children)
  }
  return count
}

/** The parts of a text, and where each begins. */
function partsOf(text: string, tokens: readonly Token[], references: string) {
  const lineStarts = startsOf(text)
  const sourceOf = ([from, to]: [number, number]) => text.slice(lineStarts[from], lineStarts[to])
  const parts: Part[] = []
  const starts: number[] = []
  for (const block of siblings(tokens, 0)) {
    const lines = block[0]?.map ?? [0, 0]
    starts.push(lineStarts[lines[0]] ?? 0)
    const source = sourceOf(lines)
    parts.push({
      source: withReferences(source, references),
      tokens: block,
      ...(isList(block[0]) ? { items: buildItems(block, sourceOf, references) } : {}),
    })
  }
  return { parts, starts }
}

const isList = (token: Token | undefined) => token?.type === 'bullet_list_open' || token?.type === 'ordered_list_open'

/** What an item looks like follows from its source, and from whether its list is a tight one. */
function buildItems(list: readonly Token[], sourceOf: (lines: [number, number]) => string, references: string): Part[] {
  return siblings(list.slice(1, -1), 1).map(tokens => {
    const isTight = tokens.some(token => token.level === 2 && token.type === 'paragraph_open' && token.hidden)
    const source = `${isTight ? 'tight' : 'loose'} ${sourceOf(tokens[0]?.map ?? [0, 0])}`
    return { source: withReferences(source, references), tokens }
  })
}

/** Where a link goes to may stand elsewhere. */
const withReferences = (source: string, references: string) =>
  source.includes('[') && references !== '{}' ? `${source}\n${references}` : source

/** Tokens cut into the runs that each make one element of this level. */
function siblings(tokens: readonly Token[], level: number): Token[][] {
  const runs: Token[][] = []
  for (const token of tokens) {
    if (token.level === level && token.nesting >= 0) runs.push([])
    runs.at(-1)?.push(token)
  }
  return runs
}

function startsOf(text: string): number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return [...starts, text.length]
}
