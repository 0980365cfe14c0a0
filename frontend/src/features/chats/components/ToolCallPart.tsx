import { Check, X } from 'lucide-react'
import { memo, type ReactNode, Suspense } from 'react'
import type { ApprovalDecided, ToolResponsePayload, WebPage } from '@/api'
import { ToolName } from '@/features/agents'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { formatNumber, formatSeconds } from '@/lib/time'
import { getToolIcon } from '@/lib/toolIcons'
import { isAgentTool } from '@/lib/toolNames'
import { Collapsible } from '@/ui/Collapsible'
import { lazy } from '@/ui/lazy'
import { getHost } from '@/ui/prose/urls'
import { Skeleton } from '@/ui/Skeleton'
import { Spinner } from '@/ui/Spinner'
import { type Part, summarizeArguments } from '../reply'
import { useChat } from './ChatContext'
import styles from './ToolCallPart.module.css'

const ToolResult = lazy(() => import('./ToolResult').then(module => ({ default: module.ToolResult })))

type ToolPart = Extract<Part, { kind: 'tool' }>

/** A tool call: collapsed to one line, or with its arguments as they stream and the result. */
export const ToolCallPart = memo(function ToolCallPart({ part }: { part: ToolPart }) {
  const { t } = useTexts()
  const Icon = getToolIcon(part.name)
  const data = part.response?.data ?? null
  return (
    <Collapsible
      open={part.isStreaming}
      state={<CallState part={part} />}
      head={
        <>
          <Icon className="i s" aria-hidden />
          {data?.kind === 'web_page' ? <PageHead name={part.name} page={data} /> : <CallHead part={part} />}
        </>
      }
    >
      <div className={styles.b}>
        <Arguments text={part.args} isStreaming={part.isStreaming} />
      </div>
      {part.decision?.arguments != null ? (
        <div className={styles.b}>
          <span className={styles.edited}>{t('approval.madeWith')}</span>
          <Arguments text={part.decision.arguments} isStreaming={false} />
        </div>
      ) : null}
      {data ? (
        <Suspense fallback={<Skeleton lines={3} label={t('loading')} />}>
          <ToolResult data={data} />
        </Suspense>
      ) : part.response ? (
        <div className={cx(styles.b, styles.res)}>{part.response.text}</div>
      ) : null}
    </Collapsible>
  )
})

function CallHead({ part }: { part: ToolPart }) {
  return (
    <span className="cut mono">
      <span className={styles.fn}>{isAgentTool(part.name) ? <ToolName tool={part.name} /> : part.name}</span>{' '}
      {summarizeArguments(part.args)}
    </span>
  )
}

function PageHead({ name, page }: { name: string; page: WebPage }) {
  return (
    <span className="cut">
      <span className={cx(styles.fn, 'mono')}>{name}</span> {page.title}{' '}
      <span className={styles.host}>{getHost(page.url)}</span>
    </span>
  )
}

function CallState({ part }: { part: ToolPart }): ReactNode {
  const { t } = useTexts()
  if (part.response) return <CallOutcome response={part.response} decision={part.decision} />
  return (
    <>
      <Spinner />
      {part.isStreaming
        ? t('argumentsChars', { count: part.args.length, n: formatNumber(part.args.length) })
        : t('toolRunning')}
    </>
  )
}

function CallOutcome({ response, decision }: { response: ToolResponsePayload; decision: ApprovalDecided | null }) {
  const { t } = useTexts()
  const duration = response.seconds == null ? '' : t('secondsShort', { n: formatSeconds(response.seconds) })
  if (response.status === 'ok') {
    return (
      <>
        <span className="ok">
          <Check className="i s" aria-label={t('tool.ok')} />
          {decision ? <DecisionText decision={decision} /> : null}
        </span>
        {duration}
      </>
    )
  }
  return (
    <>
      {decision?.note ? <span className="cut">{t('quoted', { text: decision.note })}</span> : null}
      <span className="no">
        <X className="i s" aria-hidden />
        {response.status === 'rejected' && decision ? (
          <DecisionText decision={decision} />
        ) : (
          t(`tool.${response.status}`)
        )}
      </span>
    </>
  )
}

/** Says what was decided about a call, and by whom. */
function DecisionText({ decision }: { decision: ApprovalDecided }): ReactNode {
  const { t } = useTexts()
  const { me, findActor } = useChat()
  const name = findActor(decision.actor_id ?? null)?.name ?? decision.actor_name
  const isMine = decision.actor_id === me
  switch (decision.decision) {
    case 'approved':
    case 'approved_for_run':
      if (decision.arguments != null)
        return isMine ? t('approval.approvedEditedByYou') : t('approval.approvedEditedBy', { name })
      return isMine ? t('approval.approvedByYou') : t('approval.approvedBy', { name })
    case 'refused':
      return isMine ? t('approval.refusedByYou') : t('approval.refusedBy', { name })
    case 'answered':
      return isMine ? t('approval.answeredByYou') : t('approval.answeredBy', { name })
    case 'expired':
      return t('approval.expired')
    case 'stopped':
      return null
  }
}

/** The JSON of the arguments with grey keys. Incomplete JSON is shown as it is. */
function Arguments({ text, isStreaming }: { text: string; isStreaming: boolean }) {
  const parts = text.split(/("(?:[^"\\]|\\.)*"\s*:)/) // the keys are at odd indexes
  return (
    <>
      {parts.map((part, index) =>
        index % 2 ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text have no other name
          <span key={index} className={styles.k}>
            {part}
          </span>
        ) : (
          part
        ),
      )}
      {isStreaming ? <i className={styles.caret} /> : null}
    </>
  )
}
