/** Marks words in the text on the screen without changing the document (CSS Custom Highlight API). */
import styles from './highlight.module.css'

const CJK = '\\u2e80-\\u2fdf\\u3040-\\u30ff\\u3400-\\u9fff\\uac00-\\ud7af\\uf900-\\ufaff'
const WORD = `(?![${CJK}])[\\p{L}\\p{N}_]`
const NAME = 'found'

/** Returns the pattern of the words of a query: the beginnings of words, and Chinese as it is; null if it has none. */
export function buildPattern(query: string): RegExp | null {
  const parts = query.normalize('NFKC').match(new RegExp(`[${CJK}]+|(?:${WORD})+`, 'gu')) ?? []
  const isCjk = (part: string) => new RegExp(`^[${CJK}]`, 'u').test(part)
  const pairs = parts.filter(isCjk).flatMap(part =>
    Array.from(part)
      .slice(1)
      .map((_, at) => part.slice(at, at + 2)),
  )
  const longestFirst = [...parts].sort((a, b) => b.length - a.length)
  const sources = longestFirst.map(part => (isCjk(part) ? part : `(?<!${WORD})${part}`))
  return parts.length > 0 ? new RegExp([...sources, ...pairs].join('|'), 'giu') : null
}

/** Marks the words of a query in the messages below an element, also in those that appear later. Returns a function that ends it. */
export function markWords(root: HTMLElement, query: string): () => void {
  const pattern = buildPattern(query)
  // A browser without the API shows the messages without marks.
  if (!pattern || !('highlights' in CSS)) return () => {}
  root.classList.add(styles.marked ?? '')
  let frame = 0
  const mark = () => {
    frame = 0
    CSS.highlights.set(NAME, new Highlight(...findRanges(root, pattern)))
  }
  const observer = new MutationObserver(() => {
    frame ||= requestAnimationFrame(mark)
  })
  observer.observe(root, { childList: true, characterData: true, subtree: true })
  mark()
  return () => {
    observer.disconnect()
    cancelAnimationFrame(frame)
    CSS.highlights.delete(NAME)
  }
}

function findRanges(root: HTMLElement, pattern: RegExp): Range[] {
  const ranges: Range[] = []
  for (const text of root.querySelectorAll('[data-prose], [data-file-name]')) {
    const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node; node = walker.nextNode())
      for (const match of node.nodeValue?.matchAll(pattern) ?? []) {
        const range = new Range()
        range.setStart(node, match.index)
        range.setEnd(node, match.index + match[0].length)
        ranges.push(range)
      }
  }
  return ranges
}
