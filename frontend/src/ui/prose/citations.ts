/** Citations of messages by their numbers in a text: `[#7]`. */
import { createContext } from 'react'

/** Opens the message of a number; null in a text whose numbers are no citations. */
export const CitationContext = createContext<((seq: number) => void) | null>(null)

const citation = /\[#(\d{1,9})\]/g

/** The maximal number of citations rendered as buttons in one text. */
const MAX_CITATIONS = 500

interface CitationSegment {
  text: string
  seq: number | null
}

/** Splits a text at its citations. */
export function splitCitations(text: string): CitationSegment[] {
  const segments: CitationSegment[] = []
  let from = 0
  for (const match of text.matchAll(citation)) {
    if (segments.length >= 2 * MAX_CITATIONS) break
    segments.push({ text: text.slice(from, match.index), seq: null }, { text: match[0], seq: Number(match[1]) })
    from = match.index + match[0].length
  }
  segments.push({ text: text.slice(from), seq: null })
  return segments.filter(segment => segment.text !== '')
}
