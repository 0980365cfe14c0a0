import { CornerDownRight, Moon, Reply, TriangleAlert, Zap } from 'lucide-react'
import { Fragment, type ReactNode } from 'react'
import { removeFromChat, type WakeEffect } from '@/api'
import { LayerIcon } from '@/features/layers'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { type PlainTextKey, type Texts, useTexts } from '@/lib/language'
import { formatCurrency } from '@/lib/time'
import { Avatar } from '@/ui/Avatar'
import { PathLink } from '@/ui/PathLink'
import { showToast } from '@/ui/toast'
import { useAgentsWaitingForSubAgents, useDrafts } from '../hooks'
import { useChat } from './ChatContext'
import composerStyles from './Composer.module.css'

interface WakeLineProps {
  /** Null until it is loaded. */
  wakes: readonly WakeEffect[] | null
  /** Whether the message wakes no agent, whatever its text. */
  isQuiet: boolean
  onQuietChange(isQuiet: boolean): void
  /** Shown at the end of the line. */
  children?: ReactNode
}

/** Before sending: which agents will be woken, which read the message in their present run, and which cannot answer. */
export function WakeLine({ wakes, isQuiet, onQuietChange, children }: WakeLineProps) {
  const { t } = useTexts()
  const { chatId, budgetsPath, findActor, onGo } = useChat()
  const waitingForSubAgents = useAgentsWaitingForSubAgents(chatId)
  const filterByEffect = (effect: WakeEffect['effect']) =>
    (wakes ?? []).filter(wake => wake.effect === effect && !isBudgetReason(wake.reason))
  const inNextStep = filterByEffect('next_step')
  const reachesAgents = wakes?.some(wake => wake.effect !== 'refused')
  return (
    <div className={composerStyles.wake}>
      <span className={composerStyles.who} role="status">
        {isQuiet ? (
          <WakeText icon={<Moon className="i s" aria-hidden />}>{t('wake.chosenNone')}</WakeText>
        ) : (
          <>
            <AgentGroup
              wakes={filterByEffect('wakes')}
              icon={<Zap className="i s" aria-hidden />}
              textAfter={() => t('wake.willAnswer')}
            />
            <AgentGroup
              wakes={filterByEffect('joins')}
              icon={<CornerDownRight className="i s" aria-hidden />}
              textBefore="wake.reads"
              textAfter={() => t('wake.whenItBegins')}
            />
            <AgentGroup
              wakes={inNextStep.filter(wake => waitingForSubAgents.includes(wake.agent_id))}
              icon={<CornerDownRight className="i s" aria-hidden />}
              textBefore="wake.tell"
              textAfter={count => t('wake.tellNotSubAgents', { count })}
            />
            <AgentGroup
              wakes={inNextStep.filter(wake => !waitingForSubAgents.includes(wake.agent_id))}
              icon={<CornerDownRight className="i s" aria-hidden />}
              textBefore="wake.tell"
              textAfter={count => t('wake.tellNextStep', { count })}
            />
            <AgentGroup
              wakes={filterByEffect('next_step_or_after')}
              icon={<CornerDownRight className="i s" aria-hidden />}
              textBefore="wake.tell"
              textAfter={count => t('wake.tellNextOrAfter', { count })}
            />
            <AgentGroup
              wakes={filterByEffect('after_answer')}
              icon={<Reply className="i s" aria-hidden />}
              textBefore="wake.answers"
              textAfter={() => t('wake.afterAnswer')}
            />
            <AgentGroup
              wakes={filterByEffect('after_other_work')}
              icon={<Reply className="i s" aria-hidden />}
              textBefore="wake.answers"
              textAfter={() => t('wake.afterOtherWork')}
            />
            <AgentGroup
              wakes={filterByEffect('refused')}
              icon={<TriangleAlert className="i s" aria-hidden />}
              textBefore="wake.cannot"
              showsReasons
            />
            {wakes
              ?.filter(wake => wake.reason === 'taken_down')
              .map(({ agent_id }) => (
                <button
                  key={agent_id}
                  type="button"
                  className="link"
                  onClick={() => removeFromChat(chatId, agent_id).catch(error => showToast(getErrorText(error)))}
                >
                  {t('removeFromChat', { name: findActor(agent_id)?.name ?? t('agent') })}
                </button>
              ))}
            {budgetReasons
              .filter(reason => wakes?.some(wake => wake.reason === reason))
              .map(reason => (
                <span className="no" key={reason}>
                  <TriangleAlert className="i s" aria-hidden />
                  {t(`budget.agentsCannot.${reason}`)}{' '}
                  <PathLink className="link" path={budgetsPath} onGo={onGo}>
                    {t('settings.budgets')}
                  </PathLink>
                </span>
              ))}
            {wakes?.length === 0 ? (
              <WakeText icon={<Moon className="i s" aria-hidden />}>{t('wake.none')}</WakeText>
            ) : null}
          </>
        )}
      </span>
      <span className="end">
        {isQuiet ? null : <TeamEstimate wakes={wakes ?? []} />}
        {children}
        {reachesAgents ? (
          <button type="button" className="link" aria-pressed={isQuiet} onClick={() => onQuietChange(!isQuiet)}>
            {isQuiet ? t('wake.letWake') : t('wake.letSleep')}
          </button>
        ) : null}
      </span>
    </div>
  )
}

/** What the boards of the supervisors that are woken may cost. */
function TeamEstimate({ wakes }: { wakes: readonly WakeEffect[] }) {
  const { t } = useTexts()
  const amount = wakes.reduce(
    (sum, { effect, estimate_micro: micro }) => sum + (effect === 'wakes' ? (micro ?? 0) : 0),
    0,
  )
  if (amount === 0) return null
  return (
    <span className="faint xs num" title={t('wake.estimateHint')}>
      {t('wake.estimate', { amount: formatCurrency(amount) })}
    </span>
  )
}

const WakeText = ({ icon, children }: { icon: ReactNode; children: ReactNode }) => (
  <>
    {icon}
    <span>{children}</span>
  </>
)

type Reason = WakeEffect['reason']
type BudgetReason = Extract<Reason, 'budget_used_up' | 'price_unknown'>

/** The reasons of budgets have lines of their own. */
const budgetReasons: readonly BudgetReason[] = ['budget_used_up', 'price_unknown']
const isBudgetReason = (reason: Reason): reason is BudgetReason => budgetReasons.some(each => each === reason)

const reasonTexts: Record<Exclude<NonNullable<Reason>, BudgetReason>, PlainTextKey> = {
  suspended: 'wake.reason.suspended',
  taken_down: 'wake.reason.taken_down',
  never_answers: 'wake.reason.never_answers',
  too_many_hops: 'wake.reason.too_many_hops',
  too_many_wakes: 'wake.reason.too_many_wakes',
  too_many_wakes_in_day: 'wake.reason.too_many_wakes_in_day',
}

const describeReason = ({ reason }: WakeEffect, t: Texts['t']): string | null =>
  reason && !isBudgetReason(reason) ? t(reasonTexts[reason]) : null

interface AgentGroupProps {
  wakes: readonly WakeEffect[]
  icon: ReactNode
  textBefore?: PlainTextKey
  textAfter?(count: number): string
  showsReasons?: boolean
}

/** The agents on which the message has the same effect, with texts that say which; nothing if there are none. */
function AgentGroup({ wakes, icon, textBefore, textAfter, showsReasons }: AgentGroupProps) {
  const { t } = useTexts()
  if (wakes.length === 0) return null
  return (
    <>
      {icon}
      {textBefore ? <span>{t(textBefore)}</span> : null}
      {wakes.map(wake => (
        <Fragment key={wake.agent_id}>
          <AgentChip agentId={wake.agent_id} reason={showsReasons ? describeReason(wake, t) : null} />
          {wake.effect === 'wakes' && wake.team_size > 0 ? (
            <span>{t('wake.withTeam', { count: wake.team_size })}</span>
          ) : null}
        </Fragment>
      ))}
      {textAfter ? <span>{textAfter(wakes.length)}</span> : null}
    </>
  )
}

function AgentChip({ agentId, reason }: { agentId: string; reason?: string | null | undefined }) {
  const { chatId, findActor } = useChat()
  const { t } = useTexts()
  const isApplied = useDrafts(chatId).some(draft => draft.agent_id === agentId && draft.applied)
  const name = findActor(agentId)?.name ?? t('agent')
  return (
    <span className={cx(composerStyles.chip, composerStyles.readOnly)} title={reason ?? undefined}>
      <Avatar id={agentId} name={name} avatar={findActor(agentId)?.avatar} square size="tiny" />
      {name}
      <LayerIcon layer={isApplied ? 'applied' : 'production'} />
      {reason ? <span className="faint">{reason}</span> : null}
    </span>
  )
}
