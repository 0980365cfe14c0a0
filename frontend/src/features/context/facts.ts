/** What a reply in a long chat was built from. Pure functions. */
import type { MessageRow, Stamp } from '@/api'

export type ContextFacts = NonNullable<Stamp['context']>
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
