/** Markdown as the text that people read on the screen, for copying. Pure functions. */
import type { Token } from 'markdown-it'
import { type FindName, splitMentions } from './mentions'
import { Parser, type Task } from './parse'

/** Returns a text in Markdown without its markup: with names instead of handles, and tabs between the cells of a table. */
export function formatPlainText(source: string, findName: FindName): string {
  const parts = new Parser().parse(source)
  if (!parts) return source
  const writer = new Writer(
    parts.flatMap(part => part.tokens),
    findName,
  )
  return writer.writeBlocks('\n\n').trim()
}

/** Returns the cells of a table, row by row. */
export function listCells(table: readonly Token[], findName: FindName): string[][] {
  const rows: string[][] = []
  for (const token of table) {
    if (token.type === 'tr_open') rows.push([])
    if (token.type === 'inline') rows.at(-1)?.push(formatInline(token.children ?? [], findName).trim())
  }
  return rows
}

class Writer {
  private at = 0

  constructor(
    private readonly tokens: readonly Token[],
    private readonly findName: FindName,
  ) {}

  /** Writes the blocks up to the end of the open element. */
  writeBlocks(gap: string): string {
    const blocks: string[] = []
    for (let token = this.tokens[this.at]; token; token = this.tokens[this.at]) {
      this.at += 1
      if (token.nesting < 0) break
      const block = token.nesting > 0 ? this.writeElement(token) : this.writeLeaf(token)
      if (block !== '') blocks.push(block)
    }
    return blocks.join(gap)
  }

  private writeElement(token: Token): string {
    switch (token.type) {
      case 'bullet_list_open':
        return this.writeItems(() => '- ')
      case 'ordered_list_open': {
        let number = Number(token.attrGet('start') ?? 1)
        return this.writeItems(() => `${number++}. `)
      }
      case 'blockquote_open':
        return indent(this.writeBlocks('\n\n'), '> ', '> ')
      case 'footnote_reference_open': {
        const { label } = token.meta as { label: string }
        return `[${label}] ${this.writeBlocks('\n')}`
      }
      case 'table_open': {
        const start = this.at
        this.writeBlocks('')
        return listCells(this.tokens.slice(start, this.at), this.findName)
          .map(cells => cells.join('\t'))
          .join('\n')
      }
      default:
        return this.writeBlocks('\n\n')
    }
  }

  private writeItems(getMark: () => string): string {
    const items: string[] = []
    for (let token = this.tokens[this.at]; token; token = this.tokens[this.at]) {
      this.at += 1
      if (token.nesting < 0) break
      const task = token.meta as Task | null
      const mark = getMark() + (task ? `[${task.isDone ? 'x' : ' '}] ` : '')
      items.push(indent(this.writeBlocks('\n'), mark, ' '.repeat(mark.length)))
    }
    return items.join('\n')
  }

  private writeLeaf(token: Token): string {
    if (token.type === 'inline') return formatInline(token.children ?? [], this.findName)
    if (token.type === 'hr') return '---'
    return token.content.replace(/\n$/, '')
  }
}

const indent = (text: string, first: string, next: string) =>
  text
    .split('\n')
    .map((line, index) => (index === 0 ? first : line === '' ? next.trimEnd() : next) + line)
    .join('\n')

function formatInline(tokens: readonly Token[], findName: FindName): string {
  let text = ''
  /** Where the text of the open link begins, and its address. */
  let link: { from: number; href: string } | null = null
  for (const token of tokens) {
    switch (token.type) {
      case 'text':
        text += formatNames(token.content, findName)
        break
      case 'softbreak':
      case 'hardbreak':
        text += '\n'
        break
      case 'link_open':
        link = { from: text.length, href: String(token.attrGet('href') ?? '') }
        break
      case 'link_close':
        if (link && token.info !== 'auto' && text.slice(link.from) !== link.href) text += ` (${link.href})`
        link = null
        break
      case 'image':
        text += `${token.content} (${String(token.attrGet('src') ?? '')})`.trim()
        break
      case 'footnote_ref':
        text += `[${(token.meta as { label: string }).label}]`
        break
      default:
        text += token.content
    }
  }
  return text
}

const formatNames = (text: string, findName: FindName) =>
  splitMentions(text, findName)
    .map(({ text, handle }) => (handle === null ? text : `@${findName(handle)?.name ?? handle}`))
    .join('')
