/** Mentions of people and agents by handle in a text. */
import { createContext } from 'react'
import { listMentions, listMentionsOfParsed, type Mention } from '@/lib/mentions'

/** Returns the name for a handle and whether it is the reader; null for an unknown handle. */
export type FindName = (handle: string) => { name: string; isMe: boolean } | null

/** Read only where a text has an `@`, so that a change of names renders nothing else again. */
export const FindNameContext = createContext<FindName>(() => null)

/** The maximal number of mentions rendered as elements in one text. */
const MAX_MENTIONS = 500

interface MentionSegment {
  text: string
  handle: string | null
}

/** Replaces handles by names, for the one-line quote of a text. */
export const replaceHandlesByNames = (text: string, findName: FindName): string =>
  splitAt(text, listMentions(text), findName)
    .map(segment => (segment.handle === null ? segment.text : `@${findName(segment.handle)?.name ?? segment.handle}`))
    .join('')

/** Splits a parsed text at its mentions. Only handles that `findName` finds are mentions. */
export const splitMentions = (text: string, findName: FindName): MentionSegment[] =>
  splitAt(text, listMentionsOfParsed(text), findName)

function splitAt(text: string, mentions: readonly Mention[], findName: FindName): MentionSegment[] {
  const segments: MentionSegment[] = []
  let from = 0
  for (const { handle, start, end } of mentions.filter(({ handle }) => findName(handle)).slice(0, MAX_MENTIONS)) {
    segments.push({ text: text.slice(from, start), handle: null }, { text: text.slice(start, end), handle })
    from = end
  }
  segments.push({ text: text.slice(from), handle: null })
  return segments.filter(segment => segment.text !== '')
}
