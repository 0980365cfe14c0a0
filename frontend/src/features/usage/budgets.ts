/** Calculations with budgets, their amounts and their refusals. Pure functions. */
import type { BudgetRefusal, BudgetRow } from '@/api'

/** The share of a budget after which the editors are warned. The server has the same figure. */
export const WARNING_SHARE = 0.8

export const getShare = (spentMicro: number, limitMicro: number): number =>
  limitMicro > 0 ? spentMicro / limitMicro : spentMicro > 0 ? 1 : 0

/** Returns the millionths of a dollar that a person typed in dollars; null if it is no amount. */
export function parseDollars(text: string): number | null {
  const digits = text.trim().replace(/^\$\s*/, '')
  return /^(\d+\.?\d*|\.\d+)$/.test(digits) ? Math.round(Number(digits) * 1_000_000) : null
}

/**
 * Returns whether a budget that has refused a call would refuse it again in the same period. `row`: the budget as it is now, null
 * if that is not known. A run that is retried has a budget of its own, of which nothing is spent. A refusal by the
 * budget of a person has no amounts. If `row` has none of this person either, it is taken to refuse until changed.
 */
export function isStillUsedUp(refusal: BudgetRefusal, row: BudgetRow | null): boolean {
  const limit = row?.limit_micro ?? refusal.limit_micro ?? null
  // The row of a budget for each person or agent has the amounts of the one that has spent most, which may be another.
  const isOfOne = row !== null && (row.scope === 'workspace' || row.subject_id !== null)
  const spentThen = refusal.spent_micro ?? null
  const spent = isOfOne ? Math.max(row.spent_micro, spentThen ?? 0) : spentThen
  if (limit === null || spent === null) return row === null || row.revision === refusal.revision
  return limit - (refusal.scope === 'run_tree' ? 0 : spent) < Math.max(1, refusal.needed_micro)
}
