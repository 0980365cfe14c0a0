import { Check, Copy, ExternalLink, ImageOff, WrapText } from 'lucide-react'
import type { Token } from 'markdown-it'
import { type ReactNode, useContext, useState } from 'react'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { IconButton } from '../Button'
import buttonStyles from '../Button.module.css'
import { copyText } from '../copy'
import { FindNameContext } from './mentions'
import proseStyles from './Prose.module.css'
import { getHost, isTextOfHost } from './urls'

interface LinkProps {
  href: string
  /** The text of the link, without markup. */
  text: string
  children: ReactNode
}

/** A link with its host, because its text and its URL may differ. */
export function Link({ href, text, children }: LinkProps) {
  const host = getHost(href)
  if (host === null) return <span>{children}</span>
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow" title={href}>
      {children}
      {isTextOfHost(text, host) ? null : <bdi className={proseStyles.host}>{host}</bdi>}
    </a>
  )
}

interface ImageProps {
  src: string
  alt: string
  isInLink: boolean
}

/** A link to an image. Images never load automatically, because the URL could contain data of the conversation. */
export function Image({ src, alt, isInLink }: ImageProps) {
  const { t } = useTexts()
  const host = getHost(src)
  const label = alt || t('image')
  if (!host || isInLink) return <span className={proseStyles.noimage}>{label}</span>
  return (
    <a className={proseStyles.noimage} href={src} target="_blank" rel="noopener noreferrer nofollow" title={src}>
      <ImageOff className="i s" aria-hidden />
      {label}
      <bdi className={proseStyles.host}>{host}</bdi>
      <ExternalLink className="i s" aria-hidden />
    </a>
  )
}

/** The read-only checkbox of a task list item. */
export function TaskBox({ isDone }: { isDone: boolean }) {
  const { t } = useTexts()
  return <input type="checkbox" checked={isDone} disabled aria-label={t(isDone ? 'task.done' : 'task.open')} />
}

interface TableProps {
  dir: string | undefined
  /** What it was parsed from. */
  tokens: readonly Token[]
  children: ReactNode
}

export function Table({ dir, tokens, children }: TableProps) {
  const { t } = useTexts()
  const findName = useContext(FindNameContext)
  const { copied, copy } = useCopying(async () => {
    const [{ listCells }, { formatCsv }] = await Promise.all([import('./plainText'), import('./csv')])
    return formatCsv(listCells(tokens, findName))
  })
  return (
    <div className={proseStyles.table} data-table>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a table that scrolls sideways must be reachable by keyboard */}
      <section className={proseStyles.tablebox} tabIndex={0} aria-label={t('table')}>
        <table dir={dir}>{children}</table>
      </section>
      <IconButton small label={copied ? t('copied') : t('copyCsv')} onClick={() => void copy()}>
        {copied ? <Check className="i s" /> : <Copy className="i s" />}
      </IconButton>
    </div>
  )
}

/** Returns a function that copies a text, and whether it was copied just now. */
function useCopying(getText: () => string | Promise<string>) {
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    setCopied(await copyText(await getText()))
    setTimeout(() => setCopied(false), 2_000)
  }
  return { copied, copy }
}

/** Lines longer than this do not fit on a phone. */
const MAX_PHONE_LINE = 40

interface CodeBlockProps {
  language: string
  code: string
  children: ReactNode
}

export function CodeBlock({ language, code, children }: CodeBlockProps) {
  const { t } = useTexts()
  const { copied, copy } = useCopying(() => code.replace(/\n$/, ''))
  const [isWrapped, setWrapped] = useState(false)
  const isLong = code.split('\n').some(line => line.length > MAX_PHONE_LINE)
  return (
    <div className={proseStyles.codeblock} data-code>
      <div className={proseStyles.h}>
        <span className="mono">{language}</span>
        {isLong ? (
          <IconButton
            small
            label={t('wrapLines')}
            aria-pressed={isWrapped}
            onClick={() => setWrapped(before => !before)}
          >
            <WrapText className="i s" />
          </IconButton>
        ) : null}
        <button
          type="button"
          className={cx(buttonStyles.btn, buttonStyles.flat, buttonStyles.xs)}
          onClick={() => void copy()}
        >
          {copied ? <Check className="i s" aria-hidden /> : <Copy className="i s" aria-hidden />}
          {copied ? t('copied') : t('copy')}
        </button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: code that scrolls sideways must be reachable by keyboard */}
      <pre tabIndex={0} dir="ltr" className={isWrapped ? proseStyles.wrapped : undefined}>
        <code>{children}</code>
      </pre>
    </div>
  )
}
