/** What a reply in a long chat was built from. Pure functions. */
import type { MessageRow, Stamp } from '@/api'

export type ContextFacts = NonNullable<Stamp['context']>
type Reference = NonNullable<ContextFacts['found']>[number]

const CITATION = /\[#(\d+)\]/g

/** The found messages that the text names by their numbers, each once, in the order of the text. */
export function listCited(text: string, found: readonly Reference[]): Reference[] {
  const bySeq = new Map(found.map(one => [one.seq, one]))
  const numbers = [...text.matchAll(CITATION)].map(match => Number(match[1]))
  return [...new Set(numbers)].flatMap(seq => bySeq.get(seq) ?? [])
}

/** How many of the newest messages are searched for the last summary that was used. */
const NEWEST = 200

/** The number of the last message that the summary of the newest reply stands for, or null. */
export function findSummarisedThrough(messages: readonly MessageRow[]): number | null {
  for (const row of messages.slice(-NEWEST).reverse()) {
    const context = row.type === 'TEXT_MESSAGE' ? row.payload.stamp?.context : null
    if (context) return context.summary_through ?? null
  }
  return null
}
