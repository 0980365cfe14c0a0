/** Mentions by handle in a text, by the patterns of the server (`chats/mentions.py`). Pure functions. */
import { mentionPatterns } from './serverConstants'

const { codeAndAddresses, indentedCode, listItem, mention } = mentionPatterns
const list = new RegExp(listItem, 'u')
const inLists = new RegExp(`${codeAndAddresses}|${mention}`, 'gu')
const elsewhere = new RegExp(`${codeAndAddresses}|${indentedCode}|${mention}`, 'gu')
const parsed = new RegExp(mention, 'gu')

export interface Mention {
  handle: string
  /** The positions of `@` and of the end of the handle. */
  start: number
  end: number
}

const hasAt = (text: string) => text.includes('@') || text.includes('＠')
const getPattern = (text: string) => (list.test(text) ? inLists : elsewhere)

/** Lists the mentions of a text as it was written, also of handles that nobody has. */
export function listMentions(text: string): Mention[] {
  if (!hasAt(text)) return []
  return [...text.matchAll(getPattern(text))].flatMap(match => buildMention(match, match[3]))
}

/** Lists the mentions of a part of a text that is no code and no address, as Markdown was parsed. */
export function listMentionsOfParsed(text: string): Mention[] {
  if (!hasAt(text)) return []
  return [...text.matchAll(parsed)].flatMap(match => buildMention(match, match[1]))
}

const buildMention = (match: RegExpExecArray, handle: string | undefined): Mention[] =>
  handle === undefined ? [] : [{ handle: handle.toLowerCase(), start: match.index, end: match.index + match[0].length }]

/** Replaces what a pattern finds outside code and addresses. The pattern has one group. */
export function replaceOutsideCode(
  text: string,
  pattern: string,
  replace: (found: string, start: number) => string,
): string {
  const skipped = getPattern(text) === inLists ? codeAndAddresses : `${codeAndAddresses}|${indentedCode}`
  return text.replace(new RegExp(`${skipped}|(${pattern})`, 'giu'), (match: string, ...groups: unknown[]) =>
    typeof groups[2] === 'string' ? replace(groups[2], Number(groups[3])) : match,
  )
}

/** Returns whether a position is in code or in an address, where nothing is mentioned. */
export function isInCode(text: string, position: number): boolean {
  for (const match of text.matchAll(getPattern(text)))
    if (match.index <= position && position < match.index + match[0].length) return match[3] === undefined
  return false
}
