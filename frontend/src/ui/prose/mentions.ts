/** Mentions of people and agents by handle in a text. */
import { createContext } from 'react'

/** Returns the name for a handle and whether it is the reader; null for an unknown handle. */
export type FindName = (handle: string) => { name: string; isMe: boolean } | null

/** Read only where a text has an `@`, so that a change of names renders nothing else again. */
export const FindNameContext = createContext<FindName>(() => null)

const mention = /(^|[^\p{L}\p{N}_@/])@([\p{L}\p{N}_-]+)/gu

/** The maximal number of mentions rendered as elements in one text. */
const MAX_MENTIONS = 500

interface MentionSegment {
  text: string
  handle: string | null
}

/** Replaces handles by names, for the one-line quote of a text. */
export const replaceHandlesByNames = (text: string, findName: FindName): string =>
  splitMentions(text, findName)
    .map(segment => (segment.handle === null ? segment.text : `@${findName(segment.handle)?.name ?? segment.handle}`))
    .join('')

/** Splits a text at its mentions. Only handles that `findName` finds are mentions. */
export function splitMentions(text: string, findName: FindName): MentionSegment[] {
  const segments: MentionSegment[] = []
  let from = 0
  for (const match of text.matchAll(mention)) {
    const handle = match[2] ?? ''
    if (segments.length >= 2 * MAX_MENTIONS) break
    if (!findName(handle)) continue
    const at = match.index + (match[1]?.length ?? 0)
    segments.push({ text: text.slice(from, at), handle: null }, { text: `@${handle}`, handle })
    from = at + handle.length + 1
  }
  segments.push({ text: text.slice(from), handle: null })
  return segments.filter(segment => segment.text !== '')
}
