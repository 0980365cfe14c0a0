import { memo, useMemo } from 'react'
import type { ComparisonPayload, ComparisonRow, MessageRow } from '@/api'
import { LayerIcon } from '@/features/layers'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { formatCurrency, formatNumber, formatTime } from '@/lib/time'
import { Avatar } from '@/ui/Avatar'
import { Spinner } from '@/ui/Spinner'
import { getSideTimes, type SideName } from '../comparisonSides'
import { getCost } from '../cost'
import { useRun, useStreamingTexts } from '../hooks'
import { buildReply, type ReplyParts } from '../reply'
import {
  type ActiveStatus,
  getActiveStatus,
  getFailedOrStoppedStatus,
  getRunStatus,
  isBusy,
  type RunStatus,
} from '../runStatus'
import { BudgetStop } from './BudgetStop'
import { useChat } from './ChatContext'
import styles from './Comparison.module.css'
import { LazyProse } from './LazyProse'
import messageStyles from './Message.module.css'
import { getTextId, MessageHeader } from './MessageParts'
import { Details, Duration, PartView, PendingIndicator, RunActions, StopButton } from './ReplyParts'
import { VotePanel } from './VotePanel'

interface ComparisonProps {
  row: ComparisonRow
  /** The messages of each side. */
  production: readonly MessageRow[]
  draft: readonly MessageRow[]
}

/** A message that production and the draft answer side by side, with the votes on the answers. */
export const Comparison = memo(function Comparison({ row, production, draft }: ComparisonProps) {
  const { findActor, findName } = useChat()
  const { t } = useTexts()
  const comparison = row.payload
  const author = findActor(comparison.actor_id)
  const name = author?.name ?? comparison.actor_name
  const agent = findActor(comparison.target_id)?.name ?? comparison.target_name
  return (
    <article
      className={cx(messageStyles.msg, styles.compared)}
      data-message={row.id}
      tabIndex={-1}
      aria-label={t('compare.asked', { name, agent, time: formatTime(row.created_at) })}
      aria-describedby={getTextId(row.id)}
    >
      <Avatar id={comparison.actor_id} name={name} avatar={author?.avatar} square={false} size="l" />
      <div className={messageStyles.c}>
        <MessageHeader actor={author} name={name} at={row.created_at} />
        <div id={getTextId(row.id)}>
          <LazyProse text={comparison.text} findName={findName} />
        </div>
        <div className={styles.cmp}>
          <Side which="production" comparison={comparison} rows={production} at={row.created_at} />
          <Side which="draft" comparison={comparison} rows={draft} at={row.created_at} />
        </div>
        <VotePanel id={row.id} comparison={comparison} />
      </div>
    </article>
  )
})

interface SideProps {
  which: SideName
  comparison: ComparisonPayload
  rows: readonly MessageRow[]
  at: string
}

function Side({ which, comparison, rows, at }: SideProps) {
  const { chatId } = useChat()
  const side = comparison[which]
  const run = useRun(chatId, side.run_id)
  const streaming = useStreamingTexts(chatId, side.run_id)
  const reply = useMemo(() => buildReply(rows, streaming), [rows, streaming])
  const { runEnd } = reply
  const isExpected = rows.length === 0
  const status = getRunStatus({ chatId, runId: side.run_id, run, streaming, runEnd, isExpected })
  const isWorking = isBusy(status)
  const label = useSideLabel(which, comparison)
  const { from, until } = getSideTimes({ isWorking, isRetried: side.earlier.length > 0, run, rows, at })
  const layer = which === 'production' ? 'production' : 'applied'
  return (
    <section aria-label={label} aria-busy={isWorking}>
      <div className={styles.h} data-layer={layer}>
        <LayerIcon layer={layer} />
        <span className="cut">
          {label}
          {side.draft_by ? ` · ${side.draft_by}` : ''}
        </span>
        <span className={cx(styles.st, 'num')}>
          {isWorking ? <Spinner /> : null}
          {from ? <Duration from={from} until={until} /> : null}
        </span>
      </div>
      <SideAnswer reply={reply} status={status} />
      <SideFooter rows={rows} active={getActiveStatus(status)} />
    </section>
  )
}

function useSideLabel(which: SideName, comparison: ComparisonPayload): string {
  const { t } = useTexts()
  return which === 'production'
    ? t('compare.production', { version: `v${comparison.production.version}` })
    : t('compare.draft', { apply: `r${comparison.draft.draft_apply}` })
}

interface SideAnswerProps {
  reply: ReplyParts
  status: RunStatus
}

function SideAnswer({ reply: { parts }, status }: SideAnswerProps) {
  const active = getActiveStatus(status)
  const failedOrStopped = getFailedOrStoppedStatus(status)
  return (
    <div className={styles.bd}>
      {parts.map(part => (
        <PartView key={part.key} part={part} isFailedOrStopped={failedOrStopped !== null} />
      ))}
      {active && active.status !== 'streaming' ? <PendingIndicator status={active} /> : null}
      {failedOrStopped?.runEnd.budget ? (
        <BudgetStop status={failedOrStopped} refusal={failedOrStopped.runEnd.budget} canRetry />
      ) : failedOrStopped ? (
        <div className={cx(messageStyles.foot, styles.foot)}>
          <RunActions status={failedOrStopped} />
        </div>
      ) : null}
      {failedOrStopped?.status === 'failed' && failedOrStopped.runEnd.note ? (
        <Details note={failedOrStopped.runEnd.note} />
      ) : null}
    </div>
  )
}

/** The usage of a side, with a stop button while its run is active. */
function SideFooter({ rows, active }: { rows: readonly MessageRow[]; active: ActiveStatus | null }) {
  const { t } = useTexts()
  const used = useMemo(() => getCost(rows), [rows])
  const calls = rows.filter(row => row.type === 'TOOL_CALL').length
  if (!active && used.tokens === 0) return null
  return (
    <div className={cx(styles.ft, 'num')}>
      {used.tokens > 0 ? <span>{t('usedTokens', { count: used.tokens, n: formatNumber(used.tokens) })}</span> : null}
      {used.cost ? <span>{formatCurrency(used.cost)}</span> : null}
      {calls > 0 ? <span>{t('compare.tools', { count: calls })}</span> : null}
      {active ? <StopButton status={active} /> : null}
    </div>
  )
}
