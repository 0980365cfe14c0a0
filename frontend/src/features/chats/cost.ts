/** What answers have used: tokens and costs, by the stamps of their rows. Pure functions. */
import type { MessageRow, Stamp, SubAgentResult } from '@/api'
import { getStamp } from './comparison'

export interface RunCost {
  tokens: number
  /** In millionths of a dollar; null when the price is unknown. */
  cost: number | null
}

/** Returns what the step of a stamp has used. */
export const getStampCost = (stamp: Stamp): RunCost => ({
  tokens: (stamp.input_tokens ?? 0) + (stamp.output_tokens ?? 0),
  cost: stamp.cost_micro ?? null,
})

/**
 * Returns what a run has used so far, without its sub-agents. The rows of a step share a stamp; results of tools separate
 * the steps. Some rows may be on a page that is not loaded, so the cost in `result`, the result of the sub-agent's task,
 * is returned if it is higher.
 */
export function getCost(rows: readonly MessageRow[], result: SubAgentResult | null = null): RunCost {
  let { tokens, cost }: RunCost = { tokens: 0, cost: null }
  let isStampCounted = false
  for (const row of rows) {
    if (row.type === 'TOOL_RESPONSE') isStampCounted = false
    const stamp = getStamp(row)
    if (!stamp || isStampCounted) continue
    isStampCounted = true
    const used = getStampCost(stamp)
    tokens += used.tokens
    if (used.cost !== null) cost = (cost ?? 0) + used.cost
  }
  return { tokens, cost: result && result.cost_micro > (cost ?? 0) ? result.cost_micro : cost }
}
