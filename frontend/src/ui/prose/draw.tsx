/** Renders tokens as React elements. Only those in this file and in the components it uses can result from a text. */

import type { Token } from 'markdown-it'
import { createElement, Fragment, type ReactNode, useContext } from 'react'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { Code } from './Code'
import { CitationContext, splitCitations } from './citations'
import { Formula } from './Formula'
import { FindNameContext, splitMentions } from './mentions'
import proseStyles from './Prose.module.css'
import type { Task } from './parse'
import { Image, Link, Table, TaskBox } from './parts'

/** The context in which a token is rendered. */
interface RenderContext {
  /** Whether the token is a top-level block, which has the direction of its own text. */
  isTop: boolean
  isInLink: boolean
  /** Whether the text of the link is its address. */
  isAddress: boolean
  /** Whether the text is still streaming and this part is its last. */
  isGrowing: boolean
}

const tags: Record<string, string> = {
  paragraph: 'p',
  blockquote: 'blockquote',
  bullet_list: 'ul',
  ordered_list: 'ol',
  thead: 'thead',
  tbody: 'tbody',
  tr: 'tr',
  strong: 'strong',
  em: 'em',
  s: 'del',
  sub: 'sub',
  sup: 'sup',
}

/** The headings of a message are below those of the page. */
const headings: Record<string, string> = { h1: 'h3', h2: 'h4', h3: 'h5', h4: 'h6', h5: 'h6', h6: 'h6' }

export function renderTokens(tokens: readonly Token[], isGrowing: boolean): ReactNode {
  return new TokenRenderer(tokens).renderAll({ isTop: true, isInLink: false, isAddress: false, isGrowing })
}

/** Returns the class of an ordered list, whose numbers need more space from 10 and from 100 on. */
export function getListClass(start: number, count: number): string | undefined {
  const { length } = String(start + count - 1)
  return length > 2 ? proseStyles.hundreds : length > 1 ? proseStyles.tens : undefined
}

/** Headings of the third level have the default style. */
const getHeadingClass = (tag: string) =>
  tag === 'h3' ? undefined : proseStyles[tag as 'h1' | 'h2' | 'h4' | 'h5' | 'h6']

class TokenRenderer {
  private at = 0

  constructor(private readonly tokens: readonly Token[]) {}

  /** Renders the tokens up to the end of the open element. */
  renderAll(context: RenderContext): ReactNode {
    const nodes: ReactNode[] = []
    for (let token = this.tokens[this.at]; token; token = this.tokens[this.at]) {
      this.at += 1
      if (token.nesting < 0) break
      nodes.push(token.nesting > 0 ? this.renderElement(token, context) : renderLeaf(token, context))
    }
    return createElement(Fragment, null, ...nodes)
  }

  private renderElement(token: Token, context: RenderContext): ReactNode {
    const innerContext = { ...context, isTop: false }
    const kind = token.type.replace(/_open$/, '')
    const dir = context.isTop ? { dir: 'auto' } : null
    switch (kind) {
      case 'list_item':
        return this.renderItem(token.meta as Task | null, innerContext)
      case 'link':
        return this.renderLink(token, innerContext)
      case 'footnote_reference':
        return (
          <div className={proseStyles.footnote} {...dir}>
            <sup>{getLabel(token)}</sup>
            <div>{this.renderAll(innerContext)}</div>
          </div>
        )
      case 'heading':
        return createElement(
          headings[token.tag] ?? 'h6',
          { ...dir, className: getHeadingClass(token.tag) },
          this.renderAll(innerContext),
        )
      case 'table': {
        const start = this.at
        const rows = this.renderAll(innerContext)
        return (
          <Table dir={dir?.dir} tokens={this.tokens.slice(start, this.at)}>
            {rows}
          </Table>
        )
      }
      case 'th':
      case 'td':
        return createElement(kind, { className: getAlignment(token) }, this.renderAll(innerContext))
      case 'ordered_list': {
        const start = Number(token.attrGet('start') ?? 1)
        const isItem = ({ type, level }: Token) => type === 'list_item_open' && level === token.level + 1
        const from = this.at
        const items = this.renderAll(innerContext)
        const count = this.tokens.slice(from, this.at).filter(isItem).length
        return createElement('ol', { ...dir, start, className: getListClass(start, count) }, items)
      }
    }
    const children = this.renderAll(innerContext)
    const tag = tags[kind]
    // The hidden paragraphs of a tight list are not rendered.
    return tag && !token.hidden ? createElement(tag, dir, children) : children
  }

  private renderItem(task: Task | null, context: RenderContext): ReactNode {
    const children = this.renderAll(context)
    if (!task) return <li>{children}</li>
    return (
      <li className={proseStyles.task}>
        <TaskBox isDone={task.isDone} />
        {children}
      </li>
    )
  }

  private renderLink(token: Token, context: RenderContext): ReactNode {
    const start = this.at
    const children = this.renderAll({ ...context, isInLink: true, isAddress: token.info === 'auto' })
    const linkText = this.tokens
      .slice(start, this.at)
      .map(token => token.content)
      .join('')
    return (
      <Link href={String(token.attrGet('href') ?? '')} text={linkText}>
        {children}
      </Link>
    )
  }
}

function renderLeaf(token: Token, context: RenderContext): ReactNode {
  switch (token.type) {
    case 'inline':
      return new TokenRenderer(token.children ?? []).renderAll(context)
    case 'text':
      if (context.isAddress) return token.content
      return context.isInLink ? renderLinkText(token.content) : renderText(token.content)
    // A single line break in the source is a line break.
    case 'softbreak':
    case 'hardbreak':
      return <br />
    case 'footnote_ref':
      return <sup>{getLabel(token)}</sup>
    case 'code_inline':
      return <code>{token.content}</code>
    case 'formula_inline':
    case 'formula_block':
      return <Formula source={token.content} isGrowing={context.isGrowing} />
    case 'code_block':
    case 'fence':
      return <Code text={token.content} language={getLanguage(token.info)} isGrowing={context.isGrowing} />
    case 'hr':
      return <hr />
    case 'image':
      return <Image src={String(token.attrGet('src') ?? '')} alt={token.content} isInLink={context.isInLink} />
    default:
      return token.content
  }
}

const getLabel = (token: Token) => (token.meta as { label: string }).label
const getLanguage = (info: string) => /^[\w+#-]+/.exec(info.trim())?.[0] ?? ''

const alignments: Record<string, string> = { 'text-align:right': 'r', 'text-align:center': 'm' }
const getAlignment = (token: Token) => alignments[token.attrGet('style') ?? '']

/** A link may mention people, but has no buttons. */
const renderLinkText = (text: string): ReactNode => (hasAt(text) ? <Mentions text={text} /> : text)

function renderText(text: string): ReactNode {
  if (text.includes('[#')) return <Citations text={text} />
  return hasAt(text) ? <Mentions text={text} /> : text
}

const hasAt = (text: string) => text.includes('@') || text.includes('＠')

function Citations({ text }: { text: string }) {
  const open = useContext(CitationContext)
  if (!open) return <Mentions text={text} />
  return createElement(
    Fragment,
    null,
    ...splitCitations(text).map(segment => createElement(CitationSegment, { ...segment, open })),
  )
}

function CitationSegment({ text, seq, open }: { text: string; seq: number | null; open(seq: number): void }) {
  const { t } = useTexts()
  if (seq === null) return <Mentions text={text} />
  const label = t('context.openCited', { n: seq })
  return (
    <button type="button" className={proseStyles.citation} title={label} aria-label={label} onClick={() => open(seq)}>
      #{seq}
    </button>
  )
}

function Mentions({ text }: { text: string }) {
  const findName = useContext(FindNameContext)
  return createElement(
    Fragment,
    null,
    ...splitMentions(text, findName).map(({ text, handle }) => {
      const actor = handle === null ? null : findName(handle)
      if (!actor) return text
      return createElement(
        'span',
        { className: actor.isMe ? cx(proseStyles.at, proseStyles.me) : proseStyles.at, title: text },
        `@${actor.name}`,
      )
    }),
  )
}
