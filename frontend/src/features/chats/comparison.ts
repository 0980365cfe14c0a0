/** A comparison taken apart: which rows are whose answer, what each took, how the room votes. Pure. */
import type { ComparisonPayload, MessageRow, Stamp } from '@/api'

export type SideName = 'production' | 'draft'
export type Choice = ComparisonPayload['votes'][number]['choice']

export const choices: readonly Choice[] = ['production', 'equal', 'draft']

export const comparisonOf = (row: MessageRow) => row.payload as unknown as ComparisonPayload

/** The line that tells how a run ended names it in its payload. */
export const runOf = (row: MessageRow) => row.run_id ?? (row.payload as { run_id?: string | null }).run_id ?? ''
const stampOf = (row: MessageRow) => (row.payload as { stamp?: Stamp | null }).stamp

/** Who answers in a comparison, by run; also where its own message is on an older page, and not here. */
function comparedRuns(messages: readonly MessageRow[]): string[] {
  return messages.flatMap(row => {
    if (row.type !== 'COMPARISON') return stampOf(row)?.compared && row.run_id ? [row.run_id] : []
    const { production, draft } = comparisonOf(row)
    return [production, draft].flatMap(side => [side.run_id, ...(side.earlier ?? [])])
  })
}

/** The rows of each run that answers in a comparison. They stand there, and nowhere else in the log. */
export function answersIn(messages: readonly MessageRow[]): ReadonlyMap<string, readonly MessageRow[]> {
  const answers = new Map<string, MessageRow[]>(comparedRuns(messages).map(id => [id, []]))
  if (answers.size > 0) for (const row of messages) answers.get(runOf(row))?.push(row)
  return answers
}

export interface Used {
  tokens: number
  /** Null when nobody knows the price. */
  cost: number | null
  tools: number
}

/** What an answer took in all its steps. The rows of one step share a stamp; results of tools stand between steps. */
export function usedBy(rows: readonly MessageRow[]): Used {
  const used: Used = { tokens: 0, cost: null, tools: 0 }
  let isCounted = false
  for (const row of rows) {
    if (row.type === 'TOOL_CALL') used.tools += 1
    if (row.type === 'TOOL_RESPONSE') isCounted = false
    const stamp = stampOf(row)
    if (!stamp || isCounted) continue
    isCounted = true
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
