import { CircleX, RotateCcw } from 'lucide-react'
import { type BudgetRefusal, useBudgets } from '@/api'
import { isStillUsedUp } from '@/features/usage'
import { useIsFuture } from '@/lib/isFuture'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import buttonStyles from '@/ui/Button.module.css'
import { PathLink } from '@/ui/PathLink'
import type { FailedOrStoppedStatus } from '../runStatus'
import { BudgetRefusalText } from './BudgetRefusalText'
import styles from './BudgetStop.module.css'
import { useChat } from './ChatContext'
import { useEditorNames, useRetry } from './RunOutcome'

interface BudgetStopProps {
  status: FailedOrStoppedStatus
  refusal: BudgetRefusal
  canRetry: boolean
}

/** The end of a run that a budget has refused: the reason, who can change that, and a retry once it is changed. */
export function BudgetStop({ status, refusal, canRetry }: BudgetStopProps) {
  const { t } = useTexts()
  const { isRetrying, retry } = useRetry(status)
  const { isUsedUp, byOperator } = useRefusal(refusal)
  return (
    <div className={styles.stop} role="status">
      <span className={styles.text}>
        <CircleX className="i" aria-hidden />
        <span>
          <BudgetRefusalText refusal={refusal} />
          <small>
            {isUsedUp ? (
              <WhoRaises byOperator={byOperator} />
            ) : (
              canRetry && !refusal.unpriced_model && t('budget.canRetry')
            )}
          </small>
        </span>
      </span>
      <span className={styles.actions}>
        {refusal.unpriced_model ? (
          <BudgetsLink text="budget.setPrice" byOperator={refusal.price_set_by === 'operator'} />
        ) : isUsedUp ? (
          <BudgetsLink text="budget.raise" byOperator={byOperator} />
        ) : null}
        {canRetry ? (
          <Button
            size="xs"
            busy={isRetrying ? t('retry') : null}
            blocked={isUsedUp && t('budget.retryBlocked')}
            onClick={retry}
          >
            <RotateCcw className="i s" aria-hidden />
            {t('retry')}
          </Button>
        ) : null}
      </span>
    </div>
  )
}

/** Returns whether the budget would refuse the call again for lack of an amount, and whether an operator has set it. */
function useRefusal(refusal: BudgetRefusal): { isUsedUp: boolean; byOperator: boolean } {
  const { workspaceId, me } = useChat()
  const budgets = useBudgets(workspaceId).data
  const row = budgets?.find(each => each.id === refusal.budget_id) ?? null
  // Renders again when the next period begins.
  const isThisPeriod = useIsFuture(refusal.ends_at) || !refusal.ends_at
  // A retry works for the person who asks for it, so the budget of another person does not limit it.
  const isMine = refusal.scope !== 'person' || !refusal.subject_id || refusal.subject_id === me
  const isGone = budgets !== undefined && row === null
  const isOfAmounts = !refusal.unpriced_model
  return {
    isUsedUp: isOfAmounts && isThisPeriod && isMine && !isGone && isStillUsedUp(refusal, row),
    byOperator: row?.by_operator ?? false,
  }
}

/** A link to the budgets and prices of the workspace, for editors. They change nothing that an operator has set. */
function BudgetsLink({ text, byOperator }: { text: 'budget.raise' | 'budget.setPrice'; byOperator: boolean }) {
  const { t } = useTexts()
  const { isEditor, budgetsPath, onGo } = useChat()
  if (!isEditor || byOperator) return null
  return (
    <PathLink className={`${buttonStyles.btn} ${buttonStyles.xs}`} path={budgetsPath} onGo={onGo}>
      {t(text)}
    </PathLink>
  )
}

function WhoRaises({ byOperator }: { byOperator: boolean }) {
  const { t } = useTexts()
  const { isEditor } = useChat()
  const names = useEditorNames()
  if (byOperator) return t('budget.operatorRaises')
  return isEditor ? t('budget.youRaise') : t('budget.askToRaise', { names })
}
