/** Tokens as React elements. Only what stands here can come of a text: no other element, and no attribute of its own. */

import type { Token } from 'markdown-it'
import { createElement, Fragment, type ReactNode, useContext } from 'react'
import { cx } from '@/lib/cx'
import { Code } from './Code'
import { NamingContext, splitMentions } from './mentions'
import proseStyles from './Prose.module.css'
import type { Task } from './parse'
import { Image, Link, Table, TaskBox } from './parts'

/** Where a token is drawn. */
interface RenderContext {
  /** A top-level block turns to the direction of its own text; what is in it follows. */
  isTop: boolean
  isInLink: boolean
  /** The text may still go on behind this part. */
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
}

/** A message's headings stand below those of the page. */
const headings: Record<string, string> = { h1: 'h3', h2: 'h4', h3: 'h5', h4: 'h6', h5: 'h6', h6: 'h6' }

export function renderTokens(tokens: readonly Token[], isGrowing: boolean): ReactNode {
  return new TokenRenderer(tokens).all({ isTop: true, isInLink: false, isGrowing })
}

/** The third level looks as headings do. */
const headingClass = (tag: string) => (tag === 'h3' ? undefined : proseStyles[tag as 'h1' | 'h2' | 'h4' | 'h5' | 'h6'])

class TokenRenderer {
  private at = 0

  constructor(private readonly tokens: readonly Token[]) {}

  /** What follows up to the end of the element that is open. */
  all(context: RenderContext): ReactNode {
    const nodes: ReactNode[] = []
    for (let token = this.tokens[this.at]; token; token = this.tokens[this.at]) {
      this.at += 1
      if (token.nesting < 0) break
      nodes.push(token.nesting > 0 ? this.element(token, context) : leaf(token, context))
    }
    return createElement(Fragment, null, ...nodes)
  }

  private element(token: Token, context: RenderContext): ReactNode {
    const inside = { ...context, isTop: false }
    const kind = token.type.replace(/_open$/, '')
    const dir = context.isTop ? { dir: 'auto' } : null
    switch (kind) {
      case 'list_item':
        return this.item(token.meta as Task | null, inside)
      case 'link':
        return this.link(token, inside)
      case 'heading':
        return createElement(
          headings[token.tag] ?? 'h6',
          { ...dir, className: headingClass(token.tag) },
          this.all(inside),
        )
      case 'table':
        return <Table dir={dir?.dir}>{this.all(inside)}</Table>
      case 'th':
      case 'td':
        return createElement(kind, { className: alignmentOf(token) }, this.all(inside))
      case 'ordered_list':
        return createElement('ol', { ...dir, start: Number(token.attrGet('start') ?? 1) }, this.all(inside))
    }
    const children = this.all(inside)
    const tag = tags[kind]
    // A paragraph of a tight list is not one.
    return tag && !token.hidden ? createElement(tag, dir, children) : children
  }

  private item(task: Task | null, context: RenderContext): ReactNode {
    const children = this.all(context)
    if (!task) return <li>{children}</li>
    return (
      <li className={proseStyles.task}>
        <TaskBox isDone={task.isDone} />
        {children}
      </li>
    )
  }

  private link(token: Token, context: RenderContext): ReactNode {
    const start = this.at
    const children = this.all({ ...context, isInLink: true })
    const says = this.tokens
      .slice(start, this.at)
      .map(each => each.content)
      .join('')
    return (
      <Link href={String(token.attrGet('href') ?? '')} text={says}>
        {children}
      </Link>
    )
  }
}

function leaf(token: Token, context: RenderContext): ReactNode {
  switch (token.type) {
    case 'inline':
      return new TokenRenderer(token.children ?? []).all(context)
    case 'text':
      return context.isInLink || !token.content.includes('@') ? token.content : <Mentions text={token.content} />
    // People who press Enter mean a new line.
    case 'softbreak':
    case 'hardbreak':
      return <br />
    case 'code_inline':
      return <code>{token.content}</code>
    case 'code_block':
    case 'fence':
      return <Code text={token.content} language={languageIn(token.info)} isGrowing={context.isGrowing} />
    case 'hr':
      return <hr />
    case 'image':
      return <Image src={String(token.attrGet('src') ?? '')} alt={token.content} isInLink={context.isInLink} />
    default:
      return token.content
  }
}

const languageIn = (info: string) => /^[\w+#-]+/.exec(info.trim())?.[0] ?? ''

const alignments: Record<string, string> = { 'text-align:right': 'r', 'text-align:center': 'm' }
const alignmentOf = (token: Token) => alignments[token.attrGet('style') ?? '']

function Mentions({ text }: { text: string }) {
  const names = useContext(NamingContext)
  return createElement(
    Fragment,
    null,
    ...splitMentions(text, names).map(({ text, handle }) => {
      const findActor = handle === null ? null : names(handle)
      if (!findActor) return text
      return createElement(
        'span',
        { className: findActor.isMe ? cx(proseStyles.at, proseStyles.me) : proseStyles.at, title: text },
        `@${findActor.name}`,
      )
    }),
  )
}
