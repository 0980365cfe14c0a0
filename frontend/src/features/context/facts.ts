/** What a reply in a long chat was built from, and what the next reply will be built from. Pure functions. */
import type { MessageRow, Stamp } from '@/api'

export type ContextFacts = NonNullable<Stamp['context']>

/** How many of the newest messages are searched for the last reply in a long chat. */
const NEWEST = 200

function findNewestReply(messages: readonly MessageRow[]) {
  for (const row of messages.slice(-NEWEST).reverse()) {
    const facts = row.type === 'TEXT_MESSAGE' ? row.payload.stamp?.context : null
    if (facts) return { seq: row.seq, facts }
  }
  return null
}

/** The number of the last message that the summary of the newest reply stands for, or null. */
export const findSummarisedThrough = (messages: readonly MessageRow[]): number | null =>
  findNewestReply(messages)?.facts.summary_through ?? null

const isText = ({ type, metadata }: MessageRow) => type === 'TEXT_MESSAGE' && metadata === null

/** What the next answer reads, as far as the last one shows it. */
export interface NextContext {
  strategy: ContextFacts['strategy']
  /** Whether it reads a summary. */
  hasSummary: boolean
  /** The number of the newest messages that it reads in full: those that the last answer read, and the later ones. */
  inFull: number
  /**
   * The most tokens that the last answer could read, and who set this limit (the model, the workspace or the agent); null
   * if it is not known.
   */
  limit: Limit | null
}

interface Limit {
  tokens: number
  by: NonNullable<ContextFacts['limit_by']>
}

/** Returns the smallest limit: that of the model or the agent at the last answer, or the present one of the workspace. */
export function findLimit(last: Limit | null, ofWorkspace: number | null): Limit | null {
  const known = last && last.by !== 'workspace' ? last : null
  if (ofWorkspace === null || (known && known.tokens <= ofWorkspace)) return known
  return { tokens: ofWorkspace, by: 'workspace' }
}

/**
 * Returns what the next answer reads of the loaded messages; null in a chat that the models read whole. With a summary,
 * `inFull` is exact once the messages after the summary are loaded. Without one it may be too high: the oldest messages
 * are left out when there are too many.
 */
export function findNextContext(messages: readonly MessageRow[], firstLoadedSeq: number): NextContext | null {
  const last = findNewestReply(messages)
  if (!last) return null
  const { strategy, summary_through, turns, limit, limit_by } = last.facts
  const through = summary_through ?? null
  const isLoaded = through !== null && firstLoadedSeq <= through + 1
  const inFull = isLoaded
    ? messages.filter(row => isText(row) && row.seq > through).length
    : turns + messages.filter(row => isText(row) && row.seq >= last.seq).length
  return {
    strategy,
    hasSummary: through !== null,
    inFull,
    limit: limit && limit_by ? { tokens: limit, by: limit_by } : null,
  }
}
