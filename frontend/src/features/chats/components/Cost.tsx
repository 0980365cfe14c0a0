import { Suspense, useState } from 'react'
import { CallsDialog } from '@/features/usage'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { formatCurrency, formatNumber } from '@/lib/time'
import type { RunCost } from '../cost'
import messageStyles from './Message.module.css'

interface CostProps {
  used: RunCost
  runId?: string | null
  /** Whether the run still works. */
  isGrowing?: boolean
}

/** The tokens and the cost of an answer. With a run, a click shows its calls of models. */
export function Cost({ used, runId = null, isGrowing = false }: CostProps) {
  const { t } = useTexts()
  const [isOpen, setOpen] = useState(false)
  const parts = [
    used.tokens > 0 ? t('usedTokens', { count: used.tokens, n: formatNumber(used.tokens) }) : '',
    used.cost ? formatCurrency(used.cost) : '',
  ]
  const amount = parts.filter(Boolean).join(' · ')
  const text = amount && isGrowing ? t('subAgents.soFar', { amount }) : amount
  if (!text) return null
  if (!runId) return <span className="num">{text}</span>
  return (
    <>
      <button
        type="button"
        className={cx(messageStyles.cost, 'num')}
        aria-haspopup="dialog"
        title={t('calls.show')}
        onClick={() => setOpen(true)}
      >
        {text}
      </button>
      {isOpen ? (
        <Suspense fallback={null}>
          <CallsDialog runId={runId} onClose={() => setOpen(false)} />
        </Suspense>
      ) : null}
    </>
  )
}
