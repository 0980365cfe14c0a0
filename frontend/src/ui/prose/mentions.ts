/** People and agents who are called by their handle in a text. */
import { createContext } from 'react'

/** Whom a handle names, and whether that is the reader. */
export type Naming = (handle: string) => { name: string; isMe: boolean } | null

/** Read where a text has an `@`, so that a change of names draws nothing else anew. */
export const NamingContext = createContext<Naming>(() => null)

const mention = /(^|[^\p{L}\p{N}_@/])@([\p{L}\p{N}_-]+)/gu

/** A text of nothing but handles is not worth an element for each. */
const MAX_MENTIONS = 500

interface MentionSegment {
  text: string
  handle: string | null
}

/** The text in one line of a quote: people and agents by their names. */
export const replaceHandlesByNames = (text: string, names: Naming): string =>
  splitMentions(text, names)
    .map(segment => (segment.handle === null ? segment.text : `@${names(segment.handle)?.name ?? segment.handle}`))
    .join('')

/** Cuts a text at its mentions; only what `names` knows is one. */
export function splitMentions(text: string, names: Naming): MentionSegment[] {
  const segments: MentionSegment[] = []
  let from = 0
  for (const match of text.matchAll(mention)) {
    const handle = match[2] ?? ''
    if (segments.length > 2 * MAX_MENTIONS) break
    if (!names(handle)) continue
    const at = match.index + (match[1]?.length ?? 0)
    segments.push({ text: text.slice(from, at), handle: null }, { text: `@${handle}`, handle })
    from = at + handle.length + 1
  }
  segments.push({ text: text.slice(from), handle: null })
  return segments.filter(segment => segment.text !== '')
}
