import { TriangleAlert } from 'lucide-react'
import type { BudgetRow } from '@/api'
import { cx } from '@/lib/cx'
import { type Texts, useTexts } from '@/lib/language'
import { formatNumber } from '@/lib/time'
import { formatAmount, getAmounts, getShare, getUnit, WARNING_SHARE } from './budgets'
import styles from './Usage.module.css'

/** Returns whose calls a budget limits: "Workspace", a name, "Each agent". */
export function getBudgetName(row: BudgetRow, { t }: Pick<Texts, 't'>): string {
  if (row.subject_id) return row.subject_name
  return t(`budget.scope.${row.scope}`)
}

/** How much of a budget is spent. */
export function BudgetMeter({ row }: { row: BudgetRow }) {
  const texts = useTexts()
  const { t } = texts
  const { limit, spent } = getAmounts(row)
  const unit = getUnit(row)
  const share = getShare(spent, limit)
  const percent = Math.round(share * 100)
  const name = getBudgetName(row, texts)
  // The amounts of a budget for each person or agent are those of the one that has spent most.
  const ofWhom = !row.subject_id && row.scope !== 'workspace' && row.subject_name ? ` · ${row.subject_name}` : ''
  return (
    <>
      <span className="row spread">
        <span className="cut">
          {name}
          <span className="faint">
            {' '}
            · {t(`budget.period.${row.period}`)}
            {ofWhom}
          </span>
        </span>
        <span className="num">
          <b>{unit === 'micro' ? formatAmount(spent, unit, t) : formatNumber(spent)}</b>{' '}
          <span className="muted">{t('budget.of', { limit: formatAmount(limit, unit, t) })}</span>
        </span>
      </span>
      <span className={cx(styles.bar, share >= WARNING_SHARE && styles.bad)} aria-hidden>
        <span style={{ width: `${Math.min(100, percent)}%` }} />
      </span>
      {share >= WARNING_SHARE ? (
        <span className="no sm">
          <TriangleAlert className="i s" aria-hidden />
          {t(share >= 1 ? 'budget.usedUp' : 'budget.nearlyUsedUp', { percent })}
        </span>
      ) : null}
      {unit === 'micro' && !row.refuses_unpriced ? (
        <span className="faint xs">{t('budget.ignoresUnpriced')}</span>
      ) : null}
      {row.by_operator ? (
        <span className="faint xs">{t(row.period === 'run' ? 'budget.byOperator' : 'budget.byOperatorInUTC')}</span>
      ) : null}
    </>
  )
}
