/** The components of a reply, in the log or in a comparison: its parts, its status and its actions. */

import { Square } from 'lucide-react'
import { Suspense, useEffect, useState } from 'react'
import { useQueuedRun } from '@/api'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { useIsFuture } from '@/lib/isFuture'
import { useTexts } from '@/lib/language'
import { formatNumber, formatSeconds, formatTimeWithSeconds } from '@/lib/time'
import { Boundary } from '@/ui/Boundary'
import { Button } from '@/ui/Button'
import { Collapsible } from '@/ui/Collapsible'
import { lazy } from '@/ui/lazy'
import { CitationContext } from '@/ui/prose/citations'
import { Skeleton } from '@/ui/Skeleton'
import { showToast } from '@/ui/toast'
import { useIsDeletionPending } from '../deletions'
import { type Part, PLAN_TOOL } from '../reply'
import type { ActiveStatus, RunStatus } from '../runStatus'
import { canStop } from '../stopRights'
import { useChat } from './ChatContext'
import { LazyProse } from './LazyProse'
import messageStyles from './Message.module.css'
import { getTextId } from './MessageParts'
import { ToolCallPart } from './ToolCallPart'

const RunOutcome = lazy(() => import('./RunOutcome').then(module => ({ default: module.RunOutcome })))
const WrittenPlan = lazy(() => import('./Board').then(module => ({ default: module.WrittenPlan })))
const DeletedLine = lazy(() => import('./DeletedMessage').then(module => ({ default: module.DeletedLine })))
const ApprovalCard = lazy(() => import('./ApprovalCard').then(module => ({ default: module.ApprovalCard })))

interface PartViewProps {
  part: Part
  isFailedOrStopped: boolean
}

/** A part of a reply within a boundary, so that an error does not affect the other parts. */
export function PartView(props: PartViewProps) {
  const { t } = useTexts()
  return (
    <Boundary resetKeys={[props.part]}>
      <Suspense fallback={<Skeleton lines={3} label={t('loading')} />}>
        <PartContent {...props} />
      </Suspense>
    </Boundary>
  )
}

function PartContent({ part, isFailedOrStopped }: PartViewProps) {
  switch (part.kind) {
    case 'thinking':
      return <ReasoningPart part={part} />
    case 'tool':
      return part.isStreaming && part.name === PLAN_TOOL ? (
        <WrittenPlan args={part.args} />
      ) : (
        <ToolCallPart part={part} />
      )
    case 'approval':
      return <ApprovalCard row={part.row} />
    case 'text':
      return <MarkdownPart part={part} isFailedOrStopped={isFailedOrStopped} />
  }
}

function MarkdownPart({
  part,
  isFailedOrStopped,
}: {
  part: Extract<Part, { kind: 'text' }>
  isFailedOrStopped: boolean
}) {
  const { t } = useTexts()
  const { findName, goToSeq } = useChat()
  const isPending = useIsDeletionPending(part.row?.id ?? '')
  const row = part.row?.type === 'TEXT_MESSAGE' ? part.row : null
  if (row && (row.payload.is_deleted || isPending))
    return (
      <div className="faint xs" data-part={row.id}>
        <DeletedLine row={row} />
      </div>
    )
  // Numbers are citations only in an answer that read older messages with their numbers.
  const stamp = row?.payload.stamp
  const citesMessages = stamp?.context != null
  return (
    <div
      className={part.isStreaming ? cx(messageStyles.text, messageStyles.growing) : messageStyles.text}
      data-part={part.row?.id}
      id={part.row ? getTextId(part.row.id) : undefined}
    >
      <CitationContext value={citesMessages ? goToSeq : null}>
        <LazyProse text={part.text} findName={findName} growing={part.isStreaming} />
      </CitationContext>
      {stamp?.left_out_tools?.map(tool => (
        <p key={tool.name} className="faint xs" title={tool.reason}>
          {t('leftOutTool', { name: tool.name })}
        </p>
      ))}
      {part.incomplete && !isFailedOrStopped ? (
        <p className="faint xs">
          {stamp?.cut_at_tokens ? t('incompleteByBudget', { n: formatNumber(stamp.cut_at_tokens) }) : t('incomplete')}
        </p>
      ) : null}
    </div>
  )
}

function ReasoningPart({ part }: { part: Extract<Part, { kind: 'thinking' }> }) {
  const { t } = useTexts()
  const label = part.isStreaming
    ? t('thinking')
    : part.seconds === null
      ? t('thought')
      : t('thoughtFor', { n: formatSeconds(part.seconds) })
  return (
    <Collapsible
      plain
      head={
        <span className="cut">
          {label}
          {part.isStreaming ? ` · ${part.text.slice(-80)}` : ''}
        </span>
      }
    >
      <p className={messageStyles.reasoning}>{part.text}</p>
    </Collapsible>
  )
}

export function PendingIndicator({ status: { status, run } }: { status: ActiveStatus }) {
  const { t } = useTexts()
  const isWaiting = useIsFuture(run.retry_at)
  return (
    <div className={cx(messageStyles.waiting, 'faint')}>
      <span className={messageStyles.typing} role="img" aria-label={status === 'queued' ? t('queued') : t('working')}>
        <i />
        <i />
        <i />
      </span>
      {isWaiting && run.retry_at ? (
        <span className="sm" role="status">
          {t('nextTry', { time: formatTimeWithSeconds(run.retry_at) })}
        </span>
      ) : status === 'queued' ? (
        <span className={cx(messageStyles.late, 'sm')}>
          <QueuePosition runId={run.id} />
        </span>
      ) : null}
    </div>
  )
}

/** Says that a run waits for its turn, and how many runs of the workspace start before it. */
function QueuePosition({ runId }: { runId: string }) {
  const { t } = useTexts()
  const [isLate, setIsLate] = useState(false)
  useEffect(() => {
    // Most runs start before this.
    const timer = setTimeout(() => setIsLate(true), 1_000)
    return () => clearTimeout(timer)
  }, [])
  const ahead = useQueuedRun(runId, { enabled: isLate }).data?.runs_ahead
  return ahead ? t('queuedBehind', { count: ahead }) : t('queued')
}

/** The duration of a run, updated every second while it is active. */
export function Duration({ from, until }: { from: string; until: string | null }) {
  const { t } = useTexts()
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (until) return
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [until])
  const seconds = ((until ? Date.parse(until) : now) - Date.parse(from)) / 1_000
  return t('secondsShort', { n: until ? formatSeconds(seconds) : Math.max(0, Math.floor(seconds)) })
}

/** Says for whom a run waits, and that nothing is lost meanwhile. */
export function WaitingNote({ personId }: { personId: string | null }) {
  const { t } = useTexts()
  const { me, findActor } = useChat()
  const name = findActor(personId)?.name
  return (
    <span>
      {personId === me ? t('approval.waitsForYou') : name ? t('approval.waitsFor', { name }) : t('approval.waits')}
    </span>
  )
}

interface RunActionsProps {
  status: RunStatus
  /** The name of the stop button, if it is not only "Stop". */
  stopLabel?: string | undefined
  /** Whether the agent can answer again. */
  canRetry?: boolean
}

/** The outcome and the buttons of a run: stop or retry. */
export function RunActions({ status, stopLabel, canRetry = true }: RunActionsProps) {
  const { t } = useTexts()
  switch (status.status) {
    case 'idle':
    case 'expected':
      return null
    case 'tried_again':
      return <span>{t('triedAgain')}</span>
    case 'failed':
    case 'stopped':
      return (
        <Suspense fallback={null}>
          <RunOutcome status={status} canRetry={canRetry} />
        </Suspense>
      )
    default:
      return <StopButton status={status} {...(stopLabel ? { label: stopLabel } : {})} />
  }
}

interface StopButtonProps {
  status: ActiveStatus
  /** The name of the button, if it is not only "Stop". */
  label?: string
  /** Whether a small screen shows only its icon. "Stop" is then the text on larger ones, and `label` the accessible name. */
  isSmall?: boolean
}

export function StopButton({ status, label, isSmall = false }: StopButtonProps) {
  const { t } = useTexts()
  const { run } = status
  const { me, isEditor, findActor } = useChat()
  const [isStopRequested, setStopRequested] = useState(false)
  const person = run.on_behalf_of ? findActor(run.on_behalf_of)?.name : undefined
  const reason = person ? t('stopIsFor', { name: person }) : t('stopIsForEditors')
  const stop = async () => {
    setStopRequested(true)
    try {
      await status.stop()
    } catch (error) {
      setStopRequested(false)
      showToast(getErrorText(error))
    }
  }
  return (
    <span className="end">
      <Button
        size="xs"
        aria-label={isSmall ? label : undefined}
        className={isSmall ? messageStyles.stop : undefined}
        onClick={() => void stop()}
        busy={isStopRequested || run.stopping ? <span>{t('stopping')}</span> : null}
        blocked={!canStop(run, me, isEditor) && reason}
      >
        <Square className="i s" aria-hidden />
        <span>{isSmall ? t('stop') : (label ?? t('stop'))}</span>
      </Button>
    </span>
  )
}

/** The error message of the model's server. All participants see it; it helps those who administer the model. */
export function Details({ note }: { note: string }) {
  const { t } = useTexts()
  return (
    <Collapsible plain head={t('details')}>
      <p className={messageStyles.reasoning} lang="en">
        {note}
      </p>
    </Collapsible>
  )
}
