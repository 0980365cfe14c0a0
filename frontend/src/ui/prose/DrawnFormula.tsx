import katex from 'katex'
import { createElement, type ReactNode, useMemo } from 'react'
import { cx } from '@/lib/cx'
import { FormulaSource } from './Formula'
import styles from './Formula.module.css'
import { attributesByElement, toVariant } from './mathml'

/** A formula that is nested deeper, or has more elements, is shown as its source: browsers would take too long for it. */
const MAX_DEPTH = 60
const MAX_ELEMENTS = 3_000
/** Definitions, by which a short text could expand to a long one. */
const definition = /\\(?:[egx]?def|let|futurelet|(?:re|provide)?newcommand|providecommand|global|long|char)(?![A-Za-z])/

/** A formula, drawn by the browser (MathML). One that is wrong or too large is shown as its source. */
export default function DrawnFormula({ source }: { source: string }) {
  const drawn = useMemo(() => draw(source), [source])
  if (!drawn) return <FormulaSource source={source} />
  return (
    <span className={cx(styles.formula, isDisplay(source) && styles.display)} data-formula>
      {drawn}
      {/* Selected with the formula, and copied in its place. */}
      <span className={styles.source} aria-hidden>
        {source.trim()}
      </span>
    </span>
  )
}

const isDisplay = (source: string) => /^\s*(?:\$\$|\\\[)/.test(source)

function draw(source: string): ReactNode {
  const display = isDisplay(source)
  const text = source.trim()
  const signs = text.startsWith('$') && !display ? 1 : 2
  const tex = text.slice(signs, -signs)
  if (definition.test(tex)) return null
  try {
    const options = { displayMode: display, output: 'mathml', strict: 'ignore', trust: false, maxSize: 20 } as const
    const html = katex.renderToString(tex, { ...options, maxExpand: 200, throwOnError: true })
    const root = new DOMParser().parseFromString(html, 'text/html').querySelector('math')
    return root ? new Converter().convert(root, 0, '') : null
  } catch {
    // Also a `RangeError` for groups that are nested too deeply.
    return null
  }
}

class Converter {
  private count = 0

  /** Returns an element as one of React. `column`: its alignment in a table. Throws `RangeError` if there are too many. */
  convert(element: Element, depth: number, column: string): ReactNode {
    this.count += 1
    if (depth > MAX_DEPTH || this.count > MAX_ELEMENTS) throw new RangeError('The formula is too large.')
    const name = element.localName
    if (name === 'semantics') return this.convert(element.firstElementChild as Element, depth, column)
    const known = attributesByElement[name]
    if (!known) throw new RangeError(`A formula has no <${name}>.`)
    const attributes = Object.fromEntries(
      known.flatMap(key => (element.hasAttribute(key) ? [[key, element.getAttribute(key)]] : [])),
    )
    const variant = element.getAttribute('mathvariant')
    // Browsers draw one letter in italics unless it is "normal".
    if (name === 'mi' && variant && variant !== 'bold-italic') attributes['mathvariant'] = 'normal'
    const className = cx(
      variantClasses[variant ?? ''],
      enclosures[element.getAttribute('notation') ?? ''],
      name === 'mtd' && alignments[column],
      name === 'mtable' && Number.parseFloat(element.getAttribute('columnspacing') ?? '1') === 0 && styles.close,
    )
    const props = { ...attributes, ...(className ? { className } : {}) }
    const tag = name === 'menclose' ? 'mrow' : name
    if (element.children.length === 0) return createElement(tag, props, toVariant(element.textContent, variant))
    return createElement(tag, props, ...this.convertChildren(element, depth))
  }

  private convertChildren(element: Element, depth: number): ReactNode[] {
    const table = element.localName === 'mtr' ? element.parentElement : null
    const columns = table?.getAttribute('columnalign')?.split(' ') ?? []
    return [...element.children].map((child, index) => this.convert(child, depth + 1, columns[index] ?? ''))
  }
}

const variantClasses: Record<string, string | undefined> = {
  bold: styles.bold,
  'bold-italic': styles.bold,
  'sans-serif': styles.sans,
  monospace: styles.mono,
}
const enclosures: Record<string, string | undefined> = {
  box: styles.box,
  updiagonalstrike: styles.strikeUp,
  downdiagonalstrike: styles.strikeDown,
  'updiagonalstrike downdiagonalstrike': styles.strikeBoth,
  horizontalstrike: styles.strike,
}
const alignments: Record<string, string | undefined> = { left: styles.left, right: styles.right }
