/** The data of a comparison: the times of each side, and the votes. Pure functions. */
import type { ComparisonPayload, MessageRow, RunRow } from '@/api'

export type SideName = 'production' | 'draft'
export type Choice = ComparisonPayload['votes'][number]['choice']

export const choices: readonly Choice[] = ['production', 'equal', 'draft']

/** Groups the ids of the voters by choice. */
export function groupVoters(votes: ComparisonPayload['votes']): Record<Choice, string[]> {
  const voters: Record<Choice, string[]> = { production: [], equal: [], draft: [] }
  for (const vote of votes) voters[vote.choice].push(vote.actor_id)
  return voters
}

interface SideState {
  isWorking: boolean
  /** Whether the run is a retry. No message tells when a retry was started. */
  isRetried: boolean
  run: RunRow | null
  rows: readonly MessageRow[]
  /** When the comparison was started. */
  at: string
}

/**
 * Returns when a side started and ended. A finished side is timed by its messages, if it has any, so that every tab shows
 * the same; `from` is null if its start is not known.
 */
export function getSideTimes({ isWorking, isRetried, run, rows, at }: SideState): {
  from: string | null
  until: string | null
} {
  const startedAt = isRetried ? null : at
  if (isWorking) return { from: run?.started_at ?? startedAt, until: null }
  return { from: startedAt, until: rows.at(-1)?.created_at ?? run?.ended_at ?? at }
}
