/** Calculations with budgets, their amounts and their refusals. Pure functions. */
import type { BudgetRefusal, BudgetRow } from '@/api'
import type { Texts } from '@/lib/language'
import { formatCurrency, formatNumber } from '@/lib/time'

/** The share of a budget after which the editors are warned. The server has the same figure. */
export const WARNING_SHARE = 0.8

export const getShare = (spentMicro: number, limitMicro: number): number =>
  limitMicro > 0 ? spentMicro / limitMicro : spentMicro > 0 ? 1 : 0

/** Returns the millionths of a dollar that a person typed in dollars; null if it is no amount. */
export function parseDollars(text: string): number | null {
  const digits = text.trim().replace(/^\$\s*/, '')
  return /^(\d+\.?\d*|\.\d+)$/.test(digits) ? Math.round(Number(digits) * 1_000_000) : null
}

/** Returns the number of tokens that a person typed; null if it is no whole number. */
export function parseTokens(text: string): number | null {
  const digits = text.trim().replace(/(?<=\d),(?=\d{3}(\D|$))/g, '')
  return /^\d{1,15}$/.test(digits) ? Number(digits) : null
}

export type BudgetUnit = 'micro' | 'tokens'

/** Returns the unit of the amounts of a budget: millionths of a dollar or tokens. */
export const getUnit = (row: Pick<BudgetRow, 'limit_tokens'>): BudgetUnit =>
  row.limit_tokens === null ? 'micro' : 'tokens'

/** Returns the limit of a budget, and what is spent of it, in its unit. */
export const getAmounts = (row: BudgetRow) =>
  row.limit_tokens === null
    ? { limit: row.limit_micro ?? 0, spent: row.spent_micro }
    : { limit: row.limit_tokens, spent: row.spent_tokens }

/** Returns the unit of a refusal, and its amounts. Those of the budget of a person are null, except `needed`. */
export function getRefusedAmounts(refusal: BudgetRefusal) {
  const unit: BudgetUnit = refusal.needed_tokens == null ? 'micro' : 'tokens'
  const limit = refusal[`limit_${unit}`] ?? null
  const spent = refusal[`spent_${unit}`] ?? null
  // Older rows have no `left`; what was reserved then is not known.
  const left = refusal[`left_${unit}`] ?? (limit === null || spent === null ? null : Math.max(0, limit - spent))
  return { unit, limit, spent, left, needed: refusal[`needed_${unit}`] ?? 0 }
}

export const formatAmount = (amount: number, unit: BudgetUnit, t: Texts['t']): string =>
  unit === 'micro' ? formatCurrency(amount) : t('usedTokens', { count: amount, n: formatNumber(amount) })

/**
 * Returns whether a budget that has refused a call would refuse it again in the same period. `row`: the budget as it is now, null
 * if that is not known. A run that is retried has a budget of its own, of which nothing is spent. A refusal by the
 * budget of a person has no amounts. If `row` has none of this person either, it is taken to refuse until changed.
 */
export function isStillUsedUp(refusal: BudgetRefusal, row: BudgetRow | null): boolean {
  const amounts = getRefusedAmounts(refusal)
  const present = row && getAmounts(row)
  const limit = present?.limit ?? amounts.limit
  // The row of a budget for each person or agent has the amounts of the one that has spent most, which may be another.
  const isOfOne = row !== null && (row.scope === 'workspace' || row.subject_id !== null)
  const spent = isOfOne && present ? Math.max(present.spent, amounts.spent ?? 0) : amounts.spent
  if (limit === null || spent === null) return row === null || row.revision === refusal.revision
  return limit - (refusal.scope === 'run_tree' ? 0 : spent) < Math.max(1, amounts.needed)
}
