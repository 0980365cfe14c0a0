import { memo, useEffect, useMemo, useState } from 'react'
import type { ComparisonPayload, ComparisonRow, MessageRow } from '@/api'
import { LayerIcon } from '@/features/layers'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { formatCurrency, formatNumber, formatSeconds, formatTime } from '@/lib/time'
import { Avatar } from '@/ui/Avatar'
import { Spinner } from '@/ui/Spinner'
import { type SideName, timesOf, usedBy } from '../comparison'
import { useLiveTexts, useRun } from '../hooks'
import { type ReplyParts, replyOf } from '../reply'
import { type ActiveStatus, activeOf, finishedOf, isBusy, type RunStatus, runStatusOf } from '../runStatus'
import { useChat } from './ChatContext'
import styles from './Comparison.module.css'
import { LazyProse } from './LazyProse'
import messageStyles from './Message.module.css'
import { MessageHeader, textId } from './MessageParts'
import { Details, PartView, PendingIndicator, RunActions, Stop } from './ReplyParts'
import { VotePanel } from './VotePanel'

interface ComparisonProps {
  row: ComparisonRow
  /** The messages of each side. */
  production: readonly MessageRow[]
  draft: readonly MessageRow[]
}

/** One question that production and the draft answer side by side, and how the members of the chat vote. */
export const Comparison = memo(function Comparison({ row, production, draft }: ComparisonProps) {
  const { who, names } = useChat()
  const { t } = useTexts()
  const asked = row.payload
  const asker = who(asked.actor_id)
  const name = asker?.name ?? asked.actor_name
  const agent = who(asked.target_id)?.name ?? asked.target_name
  return (
    <article
      className={cx(messageStyles.msg, styles.compared)}
      data-message={row.id}
      tabIndex={-1}
      aria-label={t('compare.asked', { name, agent, time: formatTime(row.created_at) })}
      aria-describedby={textId(row.id)}
    >
      <Avatar id={asked.actor_id} name={name} avatar={asker?.avatar} square={false} size="l" />
      <div className={messageStyles.c}>
        <MessageHeader actor={asker} name={name} at={row.created_at} />
        <div id={textId(row.id)}>
          <LazyProse text={asked.text} names={names} />
        </div>
        <div className={styles.cmp}>
          <Side which="production" asked={asked} rows={production} at={row.created_at} />
          <Side which="draft" asked={asked} rows={draft} at={row.created_at} />
        </div>
        <VotePanel id={row.id} asked={asked} />
      </div>
    </article>
  )
})

interface SideProps {
  which: SideName
  asked: ComparisonPayload
  rows: readonly MessageRow[]
  at: string
}

function Side({ which, asked, rows, at }: SideProps) {
  const { chatId } = useChat()
  const side = asked[which]
  const run = useRun(chatId, side.run_id)
  const live = useLiveTexts(chatId, side.run_id)
  const reply = useMemo(() => replyOf(rows, live), [rows, live])
  const { runEnd } = reply
  const isExpected = rows.length === 0
  const status = runStatusOf({ chatId, runId: side.run_id, run, live, runEnd, isExpected })
  const isWorking = isBusy(status)
  const label = useSideLabel(which, asked)
  const { from, until } = timesOf({ isWorking, isAskedAgain: side.earlier.length > 0, run, rows, at })
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
          {from ? <Took from={from} until={until} /> : null}
        </span>
      </div>
      <Answer reply={reply} status={status} />
      <Foot rows={rows} active={activeOf(status)} />
    </section>
  )
}

function useSideLabel(which: SideName, asked: ComparisonPayload): string {
  const { t } = useTexts()
  return which === 'production'
    ? t('compare.production', { version: `v${asked.production.version}` })
    : t('compare.draft', { apply: `r${asked.draft.draft_apply}` })
}

interface AnswerProps {
  reply: ReplyParts
  status: RunStatus
}

function Answer({ reply: { parts, runEnd }, status }: AnswerProps) {
  const active = activeOf(status)
  const finished = finishedOf(status)
  return (
    <div className={styles.bd}>
      {parts.map(part => (
        <PartView key={part.key} part={part} isFinished={runEnd !== null} />
      ))}
      {active && active.status !== 'streaming' ? <PendingIndicator status={active} /> : null}
      {finished ? (
        <div className={cx(messageStyles.foot, styles.foot)}>
          <RunActions status={finished} />
        </div>
      ) : null}
      {finished?.status === 'failed' && finished.runEnd.note ? <Details note={finished.runEnd.note} /> : null}
    </div>
  )
}

/** The time it took; the time so far, second by second, while it works. */
function Took({ from, until }: { from: string; until: string | null }) {
  const { t } = useTexts()
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (until) return
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [until])
  const past = ((until ? Date.parse(until) : now) - Date.parse(from)) / 1_000
  return t('secondsShort', { n: until ? formatSeconds(past) : Math.max(0, Math.floor(past)) })
}

/** What it took; and Stop, while it is active. */
function Foot({ rows, active }: { rows: readonly MessageRow[]; active: ActiveStatus | null }) {
  const { t } = useTexts()
  const used = useMemo(() => usedBy(rows), [rows])
  if (!active && used.tokens === 0) return null
  return (
    <div className={cx(styles.ft, 'num')}>
      {used.tokens > 0 ? <span>{t('usedTokens', { count: used.tokens, n: formatNumber(used.tokens) })}</span> : null}
      {used.cost ? <span>{formatCurrency(used.cost)}</span> : null}
      {used.tools > 0 ? <span>{t('compare.tools', { count: used.tools })}</span> : null}
      {active ? <Stop status={active} /> : null}
    </div>
  )
}
