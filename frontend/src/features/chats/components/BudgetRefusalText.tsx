import type { BudgetRefusal } from '@/api'
import { formatAmount, getRefusedAmounts } from '@/features/usage'
import { useTexts } from '@/lib/language'
import { formatShortDate, formatTime } from '@/lib/time'

/** Which budget ended a run, what the refused call could have cost, what is left of the budget, and when it resets. */
export function BudgetRefusalText({ refusal }: { refusal: BudgetRefusal }) {
  const { t } = useTexts()
  const name = refusal.scope === 'workspace' ? '' : refusal.subject_name
  const whose = name ? t('budget.whose', { name }) : ''
  if (refusal.unpriced_model) {
    return (
      <>
        <b>{t(`budget.stopped.${refusal.period}`, { whose })}</b>{' '}
        {t(`budget.unpriced.${refusal.price_set_by ?? 'editor'}`, { model: refusal.unpriced_model })} {t('budget.kept')}
      </>
    )
  }
  const { unit, limit, left, needed } = getRefusedAmounts(refusal)
  const format = (amount: number) => formatAmount(amount, unit, t)
  return (
    <>
      <b>{t(`budget.stopped.${refusal.period}`, { whose })}</b>{' '}
      {left === null || limit === null
        ? t('budget.needed', { needed: format(needed) })
        : t(`budget.needed.${refusal.period}`, {
            needed: format(needed),
            left: format(left),
            limit: format(limit),
          })}{' '}
      {t('budget.kept')}{' '}
      {refusal.ends_at
        ? t('budget.beginsAgain', { time: `${formatShortDate(refusal.ends_at)} ${formatTime(refusal.ends_at)}` })
        : null}
    </>
  )
}
