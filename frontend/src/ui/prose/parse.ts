/** Parses Markdown into blocks that are rendered one by one. Pure functions, with limits against slow or deeply nested texts. */
import MarkdownIt, { type Env, type Token } from 'markdown-it'
import { addRules } from './rules'

/** The text beyond this position is shown as source, on request. */
export const MAX_MARKDOWN = 100_000
/** A text with more tokens is shown as source. */
const MAX_TOKENS = 10_000
const MAX_DEPTH = 40

export const markdown = new MarkdownIt({ html: false, linkify: true, maxNesting: MAX_DEPTH })

addRules(markdown)

/** Moves the checkbox at the start of a task list item from its text to its `meta`. */
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

/** The `meta` of a task list item. */
export interface Task {
  isDone: boolean
}

/** A top-level block, or an item of a top-level list: the smallest part that is rendered again. */
export interface Part {
  /** Parts with the same source are rendered the same. */
  source: string
  tokens: readonly Token[]
  /** The items of a list, which are rendered separately. */
  items?: readonly Part[]
}

interface Parsed {
  text: string
  /** Null if the text is too large or nested too deeply; it stays so when the text grows. */
  parts: readonly Part[] | null
  tokenCount: number
  /** The number of parts that do not change when the text grows, and the position after them. */
  stable: { parts: number; at: number }
}

/** Parses a growing text. It keeps the parts that can no longer change. */
export class Parser {
  private last: Parsed = emptyResult

  /** Returns the parts of a text, or null if it must be shown as source. */
  parse(source: string): readonly Part[] | null {
    const text = source.includes('\r') ? source.replace(/\r\n?/g, '\n') : source
    if (text !== this.last.text) this.last = parseAfter(this.last, text)
    return this.last.parts
  }
}

const emptyResult: Parsed = { text: '', parts: [], tokenCount: 0, stable: { parts: 0, at: 0 } }

/** Parses a text after `known`: by the cache if it is the first; from the first unstable part on if `known` has grown to it. */
function parseAfter(known: Parsed, text: string): Parsed {
  if (text.length > MAX_MARKDOWN) return { ...emptyResult, text, parts: null }
  if (known === emptyResult) return parseCached(text)
  if (known.parts === null && text.startsWith(known.text)) return { ...known, text }
  if (known.stable.at > 0 && text.startsWith(known.text.slice(0, known.stable.at))) return parseContinued(known, text)
  return parseAll(text)
}

/** Cache of recently parsed texts, so that scrolling back is fast. The latest is last. */
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
  const tokenCount = countTokens(tokens)
  if (tokenCount > MAX_TOKENS) return { ...emptyResult, text, parts: null }
  const references = JSON.stringify(listDefinitions(environment))
  const { parts, starts } = buildParts(text, tokens, references)
  // A definition of a link or a footnote below changes the text above, so no part is stable then.
  const stable = references === '{}' ? findStable(text, starts) : emptyResult.stable
  return { text, parts, tokenCount, stable }
}

/** Parses a text from its first unstable part on. */
function parseContinued(known: Parsed, text: string): Parsed {
  const environment: Env = {}
  const before = known.parts?.slice(0, known.stable.parts) ?? []
  const changed = known.parts?.slice(known.stable.parts) ?? []
  const tail = text.slice(known.stable.at)
  const tokens = markdown.parse(tail, environment)
  const stableCount = changed.reduce((count, part) => count - countTokens(part.tokens), known.tokenCount)
  const tokenCount = stableCount + countTokens(tokens)
  if (Object.keys(listDefinitions(environment)).length > 0 || tokenCount > MAX_TOKENS) return parseAll(text)
  const { parts, starts } = buildParts(tail, tokens, '{}')
  const stable = findStable(tail, starts)
  return {
    text,
    parts: [...before, ...parts],
    tokenCount,
    stable: { parts: before.length + stable.parts, at: known.stable.at + stable.at },
  }
}

/** Returns the definitions of links and footnotes, which affect how other parts are rendered. */
const listDefinitions = (environment: Env): object => ({
  ...environment.references,
  ...(environment.footnotes as { refs?: object } | undefined)?.refs,
})

/** The beginning of a formula of several lines. Its end can join blocks. */
const formula = /^[ \t>]*(?:\$\$|\\\[)/m

/** Finds the stable parts. The last block can still change, and may join the one before until its first line has ended. */
function findStable(text: string, starts: readonly number[]): Parsed['stable'] {
  if (formula.test(text)) return emptyResult.stable
  const isLineOpen = text.indexOf('\n', starts.at(-1) ?? 0) < 0
  const parts = Math.max(0, starts.length - (isLineOpen ? 2 : 1))
  return { parts, at: starts[parts] ?? 0 }
}

/** Counts tokens. Returns infinity for deep nesting, where the parser silently drops text. */
function countTokens(tokens: readonly Token[]): number {
  let count = tokens.length
  for (const token of tokens) {
    if (token.level >= MAX_DEPTH - 2) return Number.POSITIVE_INFINITY
    if (token.children) count += countTokens(token.children)
  }
  return count
}

/** Builds the parts of a text, with the position of each. */
function buildParts(text: string, tokens: readonly Token[], references: string) {
  const lineStarts = listLineStarts(text)
  const getSource = ([from, to]: [number, number]) => text.slice(lineStarts[from], lineStarts[to])
  const parts: Part[] = []
  const starts: number[] = []
  for (const block of splitElements(tokens, 0)) {
    const lines = getLines(block)
    starts.push(lineStarts[lines[0]] ?? 0)
    const source = getSource(lines)
    parts.push({
      source: addReferences(source, references),
      tokens: block,
      ...(isList(block[0]) ? { items: buildItems(block, getSource, references) } : {}),
    })
  }
  return { parts, starts }
}

/** Returns the lines of a block. The tokens of a footnote itself have none. */
function getLines(block: readonly Token[]): [number, number] {
  const mapped = block.flatMap(token => token.map ?? [])
  return block[0]?.map ?? [mapped[0] ?? 0, Math.max(0, ...mapped)]
}

const isList = (token: Token | undefined) => token?.type === 'bullet_list_open' || token?.type === 'ordered_list_open'

/** Builds the items of a list. Their rendering depends on their source and on whether the list is tight. */
function buildItems(
  list: readonly Token[],
  getSource: (lines: [number, number]) => string,
  references: string,
): Part[] {
  return splitElements(list.slice(1, -1), 1).map(tokens => {
    const isTight = tokens.some(token => token.level === 2 && token.type === 'paragraph_open' && token.hidden)
    const source = `${isTight ? 'tight' : 'loose'} ${getSource(tokens[0]?.map ?? [0, 0])}`
    return { source: addReferences(source, references), tokens }
  })
}

/** Adds the link definitions to a source with links, because they affect its rendering. */
const addReferences = (source: string, references: string) =>
  source.includes('[') && references !== '{}' ? `${source}\n${references}` : source

/** Groups tokens by element: each opening or self-closing token of `level` begins a group. */
function splitElements(tokens: readonly Token[], level: number): Token[][] {
  const groups: Token[][] = []
  for (const token of tokens) {
    if (token.level === level && token.nesting >= 0) groups.push([])
    groups.at(-1)?.push(token)
  }
  return groups
}

/** Returns where each line starts, and the end of the text, because ranges of lines exclude their end. */
function listLineStarts(text: string): number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return [...starts, text.length]
}
