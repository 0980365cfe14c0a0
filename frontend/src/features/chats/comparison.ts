/** A comparison taken apart: which rows are whose answer, what each took, how people vote. Pure. */
import type { ComparisonPayload, ComparisonRow, MessageRow, RunRow, Stamp } from '@/api'

export type SideName = 'production' | 'draft'
export type Choice = ComparisonPayload['votes'][number]['choice']

export const choices: readonly Choice[] = ['production', 'equal', 'draft']

/** Whether a row is a comparison that this client can read: a newer server may send another. */
export function isComparison(row: MessageRow): row is ComparisonRow {
  if (row.type !== 'COMPARISON') return false
  const { production, draft, votes }: Partial<ComparisonPayload> = row.payload
  return typeof production?.run_id === 'string' && typeof draft?.run_id === 'string' && Array.isArray(votes)
}

/** The message about the end of a run names the run in its payload. */
export const runOf = (row: MessageRow) => row.run_id ?? ('run_id' in row.payload ? row.payload.run_id : null) ?? ''
export const stampOf = (row: MessageRow): Stamp | null => ('stamp' in row.payload ? row.payload.stamp : null) ?? null

/** Who answers in a comparison, by run; also where its own message is on an older page, and not here. */
function comparedRuns(messages: readonly MessageRow[]): string[] {
  return messages.flatMap(row => {
    if (!isComparison(row)) return stampOf(row)?.compared && row.run_id ? [row.run_id] : []
    const { production, draft } = row.payload
    return [production, draft].flatMap(side => [side.run_id, ...(side.earlier ?? [])])
  })
}

/** The rows of each run that answers in a comparison. They stand there, and nowhere else in the log. */
export function answersIn(messages: readonly MessageRow[]): ReadonlyMap<string, readonly MessageRow[]> {
  const answers = new Map<string, MessageRow[]>(comparedRuns(messages).map(id => [id, []]))
  if (answers.size > 0) for (const row of messages) answers.get(runOf(row))?.push(row)
  return answers
}

interface Used {
  tokens: number
  /** Null when nobody knows the price. */
  cost: number | null
  tools: number
}

/** What an answer took in all its steps. The rows of one step share a stamp; results of tools stand between steps. */
export function usedBy(rows: readonly MessageRow[]): Used {
  const used: Used = { tokens: 0, cost: null, tools: 0 }
  let isStampCounted = false
  for (const row of rows) {
    if (row.type === 'TOOL_CALL') used.tools += 1
    if (row.type === 'TOOL_RESPONSE') isStampCounted = false
    const stamp = stampOf(row)
    if (!stamp || isStampCounted) continue
    isStampCounted = true
    used.tokens += (stamp.input_tokens ?? 0) + (stamp.output_tokens ?? 0)
    if (stamp.cost_micro != null) used.cost = (used.cost ?? 0) + stamp.cost_micro
  }
  return used
}

/** Who voted for each choice. */
export function votersOf(votes: ComparisonPayload['votes']): Record<Choice, string[]> {
  const voters: Record<Choice, string[]> = { production: [], equal: [], draft: [] }
  for (const vote of votes) voters[vote.choice].push(vote.actor_id)
  return voters
}

interface Times {
  isWorking: boolean
  /** Null of a side that was asked again: when, only a tab that saw it knows. */
  isAskedAgain: boolean
  run: RunRow | null
  rows: readonly MessageRow[]
  /** When both were asked. */
  at: string
}

/** From when until when a side works. Once it is over, by the log alone: a tab that saw it says what one says that comes later. */
export function timesOf({ isWorking, isAskedAgain, run, rows, at }: Times): {
  from: string | null
  until: string | null
} {
  const askedAt = isAskedAgain ? null : at
  if (isWorking) return { from: run?.started_at ?? askedAt, until: null }
  return { from: askedAt, until: rows.at(-1)?.created_at ?? run?.ended_at ?? at }
}
