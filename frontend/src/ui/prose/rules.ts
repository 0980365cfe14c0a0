/** Rules that Markdown has here besides CommonMark: formulas, footnotes, a few HTML elements, and texts without spaces. */
import type { Env, MarkdownIt } from 'markdown-it'
import cjkFriendly from 'markdown-it-cjk-friendly'
import footnote from 'markdown-it-footnote'

/** The longest formula in a line, and the longest text of `<sub>` and `<sup>`, in characters. */
const MAX_INLINE = 2_000
/** The most lines of a formula. */
const MAX_FORMULA_LINES = 100
/** The most formulas of a text; further ones are code, as they are written. */
const MAX_FORMULAS = 300
/** Characters of Chinese, Japanese and Korean, also the halves of those beyond 16 bits: they end an address. */
const CJK =
  '\\u1100-\\u11ff\\u2e80-\\ua4cf\\ua960-\\ua97f\\uac00-\\ud7ff\\ud840-\\ud88f\\uf900-\\ufaff\\ufe30-\\ufe4f\\uff00-\\uffef'

export function addRules(markdown: MarkdownIt): void {
  markdown.use(cjkFriendly)
  addFootnotes(markdown)
  addFormulas(markdown)
  addElements(markdown)
  endLinksAtCjk(markdown)
}

/** A footnote is shown where it is written; its tokens are not moved to the end. */
function addFootnotes(markdown: MarkdownIt): void {
  markdown.use(footnote).disable(['footnote_tail', 'footnote_inline'])
}

const formulas: Record<string, string> = { $$: '$$', '\\[': '\\]', '\\(': '\\)' }
/** As in Pandoc: no space inside the signs, so that amounts of money are no formulas. */
const inDollars = /\$(?![\s$])(?:[^$\\\n]|\\[^\n])+(?<!\s)\$(?![0-9A-Za-z])/y
/** An amount and words after it, such as "$5 (or 10$", without a sign of a formula. */
const amountAndWords = /^\$\d[\d.,]*[^\\^_={}<>]*(?:\p{L}{2}|[\u2e80-\u9fff])[^\\^_={}<>]*$/u

/** Formulas are tokens with their source, signs included, so that no other rule changes them. */
function addFormulas(markdown: MarkdownIt): void {
  markdown.inline.ruler.before('escape', 'formula', (state, silent) => {
    if (!'$\\'.includes(state.src[state.pos] ?? ' ')) return false
    const source = findFormula(state.src.slice(0, state.posMax), state.pos)
    if (source === '') return false
    if (!silent) state.push(chooseType(state.env, 'inline'), 'code', 0).content = source
    state.pos += source.length
    return true
  })
  const alt = ['paragraph', 'reference', 'blockquote', 'list']
  const addBlock = (state: BlockState, from: number, to: number, silent: boolean) => {
    const getLine = (line: number) =>
      state.src.slice((state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0), state.eMarks[line]).trimEnd()
    const first = getLine(from)
    const end = formulas[first.slice(0, 2)]
    if (!end || first.startsWith('\\(') || first.slice(2).includes(end)) return false
    const last = Math.min(to, from + MAX_FORMULA_LINES)
    for (let line = from + 1; line < last && (state.sCount[line] ?? 0) >= state.blkIndent; line += 1) {
      if (!getLine(line).endsWith(end)) continue
      if (silent) return true
      const token = state.push(chooseType(state.env, 'block'), 'code', 0)
      token.content = state.getLines(from, line + 1, state.blkIndent, false)
      token.map = [from, line + 1]
      state.line = line + 1
      return true
    }
    return false
  }
  markdown.block.ruler.before('code', 'formula', addBlock, { alt })
}

/** Returns the type of the token of the next formula of a text. */
function chooseType(environment: Env, kind: 'inline' | 'block'): string {
  const count = Number(environment['formulas'] ?? 0) + 1
  environment['formulas'] = count
  return `${count > MAX_FORMULAS ? 'code' : 'formula'}_${kind}`
}

type BlockState = Parameters<Parameters<MarkdownIt['block']['ruler']['push']>[1]>[0]

/** Returns the formula at a position with its signs, or an empty text. */
function findFormula(text: string, at: number): string {
  const sign = text.slice(at, at + 2)
  const end = formulas[sign]
  if (end) {
    const length = text.slice(at + 2, at + MAX_INLINE).indexOf(end)
    return length > 0 ? text.slice(at, at + 4 + length) : ''
  }
  if (sign[0] !== '$' || /[0-9A-Za-z$]/.test(text[at - 1] ?? '')) return ''
  inDollars.lastIndex = at
  const found = inDollars.exec(text)?.[0] ?? ''
  return amountAndWords.test(found) ? '' : found
}

const element = /<(?:br ?\/?|(sub|sup))>/iy

/** Renders `<br>`, `<sub>` and `<sup>`. All other HTML is shown as source. */
function addElements(markdown: MarkdownIt): void {
  markdown.inline.ruler.before('html_inline', 'elements', (state, silent) => {
    element.lastIndex = state.pos
    const found = element.exec(state.src)
    if (!found) return false
    const start = state.pos + found[0].length
    const tag = found[1]?.toLowerCase()
    if (!tag) {
      if (!silent) state.push('hardbreak', 'br', 0)
      state.pos = start
      return true
    }
    const closing = `</${tag}>`
    const length = state.src
      .slice(start, Math.min(start + MAX_INLINE, state.posMax))
      .toLowerCase()
      .indexOf(closing)
    if (length < 0) return false
    if (!silent) {
      const { posMax } = state
      state.push(`${tag}_open`, tag, 1)
      state.pos = start
      state.posMax = start + length
      state.md.inline.tokenize(state)
      state.push(`${tag}_close`, tag, -1)
      state.posMax = posMax
    }
    state.pos = start + length + closing.length
    return true
  })
}

const hostBeforeCjk = new RegExp(`^//[^/?#]*[${CJK}]`)
const completeHost = /^\/\/(?:localhost|[^/?#]*\.[a-z]{2,}|[\d.]+)(?::\d+)?$/i

/** Ends bare addresses where Chinese, Japanese or Korean text begins. In `<…>` and `[…](…)` an address may contain it. */
function endLinksAtCjk({ linkify }: MarkdownIt): void {
  const separators = new RegExp(`[><${CJK}]`)
  linkify.re.get_text_separators = () => separators
  const validate = (text: string, at: number) => {
    const pattern = linkify.re.get_http_validator()
    pattern.lastIndex = at
    const found = pattern.exec(text)?.[0] ?? ''
    // A host that goes on with such letters is another host, unless the first part is complete.
    const goesOn = hostBeforeCjk.test(text.slice(at, at + found.length + 1))
    return goesOn && !completeHost.test(found) ? 0 : found.length
  }
  for (const schema of ['http:', 'https:', 'ftp:']) linkify.add(schema, { validate })
  const www = new RegExp(
    `^(?:(?![${CJK}])[\\p{L}\\p{N}-])+(?:\\.(?:(?![${CJK}])[\\p{L}\\p{N}-])+)+(?:/[^\\s<>()[\\]${CJK}]*)?`,
    'u',
  )
  // Of names without a scheme, only those with "www." are linked, not "setup.py".
  linkify.add('www.', {
    validate: (text, at) =>
      (www.exec(text.slice(at, at + MAX_INLINE))?.[0] ?? '').replace(/[.,:;!?'"*_~]+$/, '').length,
    normalize: match => {
      match.url = `https://${match.url}`
    },
  })
}
