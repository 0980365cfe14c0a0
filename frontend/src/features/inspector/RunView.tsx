import {
  ArrowUpRight,
  AtSign,
  Bot,
  CornerDownRight,
  Hourglass,
  type LucideIcon,
  MessageSquare,
  Sparkles,
  Wrench,
  Zap,
} from 'lucide-react'
import { useState } from 'react'
import { type RunInspectionRow, type TimelineRow, useRunInspection } from '@/api'
import { formatAmount } from '@/features/usage'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { messagePath } from '@/lib/paths'
import { getRunErrorText } from '@/lib/runErrors'
import { formatCurrency, formatNumber, formatSeconds, formatTime } from '@/lib/time'
import buttonStyles from '@/ui/Button.module.css'
import blocks from '@/ui/blocks.module.css'
import { Loading } from '@/ui/Loading'
import { PathLink } from '@/ui/PathLink'
import { type Bar, computeBar, describeState } from './figures'
import styles from './Inspector.module.css'
import { RequestPanel } from './RequestPanel'
import { StampBadge } from './StampBadge'

interface RunViewProps {
  runId: string
  /** The handle of the workspace. */
  workspace: string
  onGo(path: string): void
}

/** A run: why its agent was woken, its figures, and its parts in order. A request to a model opens beside them. */
export function RunView({ runId, workspace, onGo }: RunViewProps) {
  const query = useRunInspection(runId)
  const [opened, setOpened] = useState<{ runId: string; requestId: string } | null>(null)
  const { data } = query
  if (!data) return <Loading query={query} lines={8} />
  const last = data.timeline.findLast(part => part.kind === 'model' && part.run_id === data.run.id && part.has_request)
  const shown = opened ?? (last?.request_id ? { runId: last.run_id, requestId: last.request_id } : null)
  return (
    <div className={cx(styles.pair, data.may_read_requests && shown && styles.withRequest)}>
      <section className={styles.run} aria-label={data.chat_title}>
        <Head inspection={data} workspace={workspace} onGo={onGo} />
        <Timeline
          inspection={data}
          openedId={data.may_read_requests ? shown?.requestId : undefined}
          onOpen={part =>
            part.request_id && data.may_read_requests && setOpened({ runId: part.run_id, requestId: part.request_id })
          }
        />
      </section>
      {data.may_read_requests && shown ? <RequestPanel runId={shown.runId} requestId={shown.requestId} /> : null}
    </div>
  )
}

function Head({ inspection, workspace, onGo }: { inspection: RunInspectionRow } & Omit<RunViewProps, 'runId'>) {
  const { t, rich } = useTexts()
  const { run, stamp } = inspection
  const state = describeState(run)
  const name = inspection.person?.name ?? t('someoneGone')
  return (
    <header className={styles.head}>
      <h2 className="row">
        {t('inspector.runOf', { time: formatTime(run.created_at) })}
        <span className={cx(blocks.badge, state.tone === 'bad' && blocks.bad)}>{t(state.key)}</span>
        {stamp ? <StampBadge stamp={stamp} /> : null}
        <PathLink
          className={cx(buttonStyles.btn, buttonStyles.xs, 'end')}
          path={messagePath(workspace, run.chat_id, inspection.message_id ?? '')}
          onGo={onGo}
        >
          <ArrowUpRight className="i s" aria-hidden />
          {t('inspector.openChat')}
        </PathLink>
      </h2>
      <p className={styles.why}>
        <Zap className="i s" aria-hidden />
        <span>
          {rich(`inspector.why.${inspection.why}`, { name, chat: inspection.chat_title })}{' '}
          {inspection.response && inspection.why !== 'task'
            ? t('inspector.rule', { rule: t(`response.${inspection.response as 'mentions'}`) })
            : null}
          {inspection.read_messages ? ` ${t('inspector.cameAlong', { count: inspection.read_messages })}` : null}
        </span>
      </p>
      {run.error_code ? <p className="no sm">{getRunErrorText(run.error_code)}</p> : null}
      {inspection.runs_ahead === null ? null : (
        <p className="faint sm">{t('inspector.ahead', { count: inspection.runs_ahead })}</p>
      )}
      <Figures inspection={inspection} />
    </header>
  )
}

/** The five figures of a run, the person or workspace whose key paid, and what is left of the budgets. */
function Figures({ inspection }: { inspection: RunInspectionRow }) {
  const { t } = useTexts()
  const seconds = (value: number | null) => (value === null ? '–' : t('inspector.seconds', { n: formatSeconds(value) }))
  return (
    <>
      <dl className={styles.figures}>
        <div>
          <dt>{t('inspector.took')}</dt>
          <dd>{seconds(inspection.seconds)}</dd>
        </div>
        <div>
          <dt>{t('inspector.firstWord')}</dt>
          <dd>{seconds(inspection.first_token_seconds)}</dd>
        </div>
        <div>
          <dt>{t('inspector.calls')}</dt>
          <dd>{formatNumber(inspection.calls)}</dd>
        </div>
        <div>
          <dt>{t('inspector.tokens')}</dt>
          <dd>
            {formatNumber(inspection.input_tokens)} · {formatNumber(inspection.output_tokens)}
          </dd>
        </div>
        <div>
          <dt>{t('inspector.cost')}</dt>
          <dd>{formatCurrency(inspection.cost_micro)}</dd>
        </div>
      </dl>
      <p className="faint xs">
        {[
          inspection.paid_by
            ? t(`inspector.key.${inspection.paid_by as 'person'}`, { name: inspection.payer_name })
            : null,
          inspection.model,
          inspection.on_behalf_of ? t('inspector.worksFor', { name: inspection.on_behalf_of.name }) : null,
          ...inspection.budgets.map(budget =>
            t(
              'inspector.left',
              budget.limit_micro === null
                ? {
                    free: formatNumber(budget.free_tokens ?? 0),
                    limit: formatAmount(budget.limit_tokens ?? 0, 'tokens', t),
                  }
                : { free: formatCurrency(budget.free_micro ?? 0), limit: formatCurrency(budget.limit_micro) },
            ),
          ),
        ]
          .filter(Boolean)
          .join(' · ')}
      </p>
    </>
  )
}

const icons: Record<TimelineRow['kind'], LucideIcon> = {
  woke: AtSign,
  model: Sparkles,
  tool: Wrench,
  sub_agent: Bot,
  waited: Hourglass,
  read: CornerDownRight,
  ended: MessageSquare,
}

interface TimelineProps {
  inspection: RunInspectionRow
  openedId: string | undefined
  onOpen(part: TimelineRow): void
}

function Timeline({ inspection, openedId, onOpen }: TimelineProps) {
  const { t } = useTexts()
  const { run, timeline } = inspection
  const start = Date.parse(run.created_at)
  const ends = timeline.map(part => Date.parse(part.at) + (part.seconds ?? 0) * 1000)
  const total = Math.max(1, Math.max(run.ended_at ? Date.parse(run.ended_at) : 0, ...ends) - start)
  return (
    <ol className={styles.timeline} aria-label={t('inspector.steps')}>
      <li className={styles.scale} aria-hidden>
        <span>{t('inspector.step')}</span>
        <span className={styles.times}>
          <span>0</span>
          <span>{t('inspector.seconds', { n: formatSeconds(total / 1000) })}</span>
        </span>
      </li>
      {timeline.map((part, index) => (
        <Part
          // biome-ignore lint/suspicious/noArrayIndexKey: parts have no id, and are only added at the end
          key={index}
          part={part}
          bar={computeBar(part.at, part.seconds, start, total)}
          isOpened={part.request_id !== null && part.request_id === openedId}
          canOpen={inspection.may_read_requests && part.kind === 'model'}
          onOpen={() => onOpen(part)}
        />
      ))}
    </ol>
  )
}

interface PartProps {
  part: TimelineRow
  bar: Bar
  isOpened: boolean
  canOpen: boolean
  onOpen(): void
}

function Part({ part, bar, isOpened, canOpen, onOpen }: PartProps) {
  const { t } = useTexts()
  const Icon = icons[part.kind]
  const content = (
    <>
      <Icon className="i s faint" aria-hidden />
      <span className="cut">
        <PartName part={part} />
      </span>
      <span className={styles.track} aria-hidden>
        {part.kind === 'waited' ? null : (
          <i data-kind={part.kind} style={{ left: `${bar.left}%`, width: `${bar.width}%` }} />
        )}
      </span>
      <span className={styles.number}>
        {part.seconds === null ? '' : t('inspector.seconds', { n: formatSeconds(part.seconds) })}
      </span>
      <span className={styles.number}>{part.cost_micro ? formatCurrency(part.cost_micro) : ''}</span>
    </>
  )
  const className = cx(styles.part, part.kind === 'waited' && 'muted')
  const style = { paddingInlineStart: `${16 + Math.min(part.depth, 6) * 24}px` }
  return (
    <li>
      {canOpen ? (
        <button
          type="button"
          className={className}
          style={style}
          aria-current={isOpened ? 'true' : undefined}
          onClick={onOpen}
        >
          {content}
        </button>
      ) : (
        <div className={className} style={style}>
          {content}
        </div>
      )}
    </li>
  )
}

const getReadKey = ({ name }: TimelineRow) => (name ? 'inspector.part.wokenAgain' : 'inspector.part.read')

function PartName({ part }: { part: TimelineRow }) {
  const { t } = useTexts()
  const name = part.person?.name ?? t('someoneGone')
  const note = (text: string) => (text ? <span className="faint xs"> {text}</span> : null)
  const tokens = t('inspector.inOut', {
    input: formatNumber(part.input_tokens),
    output: formatNumber(part.output_tokens),
  })
  switch (part.kind) {
    case 'woke':
      return t('inspector.part.woke')
    case 'model':
      return (
        <>
          {t('inspector.part.model', { n: part.number ?? 0 })}
          {part.error_code ? <span className="no xs"> {getRunErrorText(part.error_code)}</span> : note(tokens)}
        </>
      )
    case 'tool':
      return (
        <>
          <code className="mono">{part.name}</code>
          {part.note && part.note !== 'ok' ? note(t('inspector.notOk')) : null}
        </>
      )
    case 'sub_agent':
      return (
        <>
          {part.name}
          {note(t('inspector.part.subAgent'))}
        </>
      )
    case 'waited':
      return (
        <>
          {part.person ? t('inspector.part.waitedFor', { name }) : t('inspector.part.waits')}
          {note(part.name)}
        </>
      )
    case 'read':
      return (
        <>
          {t(getReadKey(part), { name })}
          {note(part.note)}
        </>
      )
    case 'ended':
      return t(
        part.note === 'completed'
          ? 'inspector.state.answered'
          : part.note === 'stopped'
            ? 'inspector.state.stopped'
            : 'inspector.state.failed',
      )
  }
}
