import { Check, Copy, ExternalLink, ImageOff } from 'lucide-react'
import { type ComponentProps, isValidElement, type ReactNode, useState } from 'react'
import { useTexts } from '@/lib/language'
import { copyText } from '../copy'

/** The host of an address, as it is to be shown beside a link; null for what is no web address. */
export function hostOf(href: string): string | null {
  try {
    const url = new URL(href)
    return url.protocol === 'mailto:' ? url.pathname : url.host
  } catch {
    return null
  }
}

export function textOf(node: ReactNode): string {
  if (typeof node === 'string' || typeof node === 'number') return String(node)
  if (Array.isArray(node)) return node.map(textOf).join('')
  if (isValidElement<{ children?: ReactNode }>(node)) return textOf(node.props.children)
  return ''
}

/** A link shows where it leads: what it says and where it goes may differ. */
export function Link({ href, children }: ComponentProps<'a'>) {
  const host = href ? hostOf(href) : null
  if (!href || host === null) return <span>{children}</span>
  const says = textOf(children)
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow" title={href}>
      {children}
      {says.includes(host) ? null : <span className="host">{host}</span>}
    </a>
  )
}

/** Images never load by themselves: the address alone could carry the conversation out. */
export function Image({ src, alt }: ComponentProps<'img'>) {
  const { t } = useTexts()
  const host = typeof src === 'string' ? hostOf(src) : null
  const label = alt || t('image')
  if (!host || typeof src !== 'string') return <span className="noimage">{label}</span>
  return (
    <a className="noimage" href={src} target="_blank" rel="noopener noreferrer nofollow" title={src}>
      <ImageOff className="i s" aria-hidden />
      {label}
      <span className="host">{host}</span>
      <ExternalLink className="i s" aria-hidden />
    </a>
  )
}

export function Table({ children }: ComponentProps<'table'>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a table that scrolls sideways must be reachable by keyboard
    <table tabIndex={0}>{children}</table>
  )
}

const languageOf = (node: ReactNode) =>
  isValidElement<{ className?: string }>(node)
    ? (/language-([\w+#-]+)/.exec(node.props.className ?? '')?.[1] ?? '')
    : ''

export function CodeBlock({ children }: ComponentProps<'pre'>) {
  const { t } = useTexts()
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    setCopied(await copyText(textOf(children).replace(/\n$/, '')))
    setTimeout(() => setCopied(false), 2_000)
  }
  return (
    <div className="codeblock">
      <div className="h">
        <span className="mono">{languageOf(children)}</span>
        <button type="button" className="btn xs flat" onClick={copy}>
          {copied ? <Check className="i s" aria-hidden /> : <Copy className="i s" aria-hidden />}
          {copied ? t('copied') : t('copy')}
        </button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: code that scrolls sideways must be reachable by keyboard */}
      <pre tabIndex={0}>{children}</pre>
    </div>
  )
}
