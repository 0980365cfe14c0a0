import { CircleX, RotateCcw } from 'lucide-react'
import { type BudgetRefusal, useBudgets } from '@/api'
import { BudgetRefusalText, isStillUsedUp } from '@/features/usage'
import { useIsFuture } from '@/lib/isFuture'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import buttonStyles from '@/ui/Button.module.css'
import { PathLink } from '@/ui/PathLink'
import type { FailedOrStoppedStatus } from '../runStatus'
import styles from './BudgetStop.module.css'
import { useChat } from './ChatContext'
import { useEditorNames, useRetry } from './ReplyParts'

interface BudgetStopProps {
  status: FailedOrStoppedStatus
  refusal: BudgetRefusal
  canRetry: boolean
}

/** The end of a run whose budget is used up: the reason, who can raise the budget, and a retry once it is raised. */
export function BudgetStop({ status, refusal, canRetry }: BudgetStopProps) {
  const { t } = useTexts()
  const { workspaceId, me, isEditor, budgetsPath, onGo } = useChat()
  const { isRetrying, retry } = useRetry(status)
  const budgets = useBudgets(workspaceId).data
  const row = budgets?.find(each => each.id === refusal.budget_id) ?? null
  // Renders again when the next period begins.
  const isThisPeriod = useIsFuture(refusal.ends_at) || !refusal.ends_at
  // A retry works for the person who asks for it, so the budget of another person does not limit it.
  const isMine = refusal.scope !== 'person' || !refusal.subject_id || refusal.subject_id === me
  const isGone = budgets !== undefined && row === null
  const isUsedUp = isThisPeriod && isMine && !isGone && isStillUsedUp(refusal, row)
  const canRaise = isEditor && !row?.by_operator
  return (
    <div className={styles.stop} role="status">
      <span className={styles.text}>
        <CircleX className="i" aria-hidden />
        <span>
          <BudgetRefusalText refusal={refusal} />
          <small>
            {isUsedUp ? <WhoRaises byOperator={row?.by_operator ?? false} /> : canRetry && t('budget.canRetry')}
          </small>
        </span>
      </span>
      <span className={styles.actions}>
        {canRaise && isUsedUp ? (
          <PathLink className={`${buttonStyles.btn} ${buttonStyles.xs}`} path={budgetsPath} onGo={onGo}>
            {t('budget.raise')}
          </PathLink>
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

function WhoRaises({ byOperator }: { byOperator: boolean }) {
  const { t } = useTexts()
  const { isEditor } = useChat()
  const names = useEditorNames()
  if (byOperator) return t('budget.operatorRaises')
  return isEditor ? t('budget.youRaise') : t('budget.askToRaise', { names })
}
