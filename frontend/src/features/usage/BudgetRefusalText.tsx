import type { BudgetRefusal } from '@/api'
import { useTexts } from '@/lib/language'
import { formatCurrency, formatShortDate, formatTime } from '@/lib/time'

/** Which budget ended a run, what is spent of it, what the refused call could have cost, and when the budget begins again. */
export function BudgetRefusalText({ refusal }: { refusal: BudgetRefusal }) {
  const { t } = useTexts()
  const name = refusal.scope === 'workspace' || !refusal.subject_name ? '' : ` (${refusal.subject_name})`
  const { spent_micro: spent, limit_micro: limit } = refusal
  return (
    <>
      <b>
        {t(`budget.stopped.${refusal.period}`)}
        {name}
      </b>{' '}
      {spent == null || limit == null
        ? null
        : `${t('budget.spentOf', { spent: formatCurrency(spent), limit: formatCurrency(limit) })} `}
      {t('budget.needed', { cost: formatCurrency(refusal.needed_micro) })} {t('budget.kept')}{' '}
      {refusal.ends_at
        ? t('budget.beginsAgain', { time: `${formatShortDate(refusal.ends_at)} ${formatTime(refusal.ends_at)}` })
        : null}
    </>
  )
}
