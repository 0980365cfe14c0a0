/** What budgets say about themselves. Pure functions. */
/** The share of a budget after which the editors are warned. The server has the same figure. */
export const WARNING_SHARE = 0.8

export const getShare = (spentMicro: number, limitMicro: number): number =>
  limitMicro > 0 ? spentMicro / limitMicro : spentMicro > 0 ? 1 : 0

/** Returns the millionths of a dollar that a person typed in dollars; null if it is no amount. */
export function parseDollars(text: string): number | null {
  const dollars = Number(text.trim().replace(/^\$/, ''))
  return text.trim() === '' || !Number.isFinite(dollars) || dollars < 0 ? null : Math.round(dollars * 1_000_000)
}
