import { Popover } from 'radix-ui'
import type { CSSProperties, RefObject } from 'react'
import { type EndedRunState, type MessageRow, type SubAgentResult, useBudgets } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { describePayment } from '@/lib/payer'
import { formatCurrency, formatNumber } from '@/lib/time'
import { Avatar, type AvatarData } from '@/ui/Avatar'
import menuStyles from '@/ui/Menu.module.css'
import { useIsPhone } from '@/ui/useIsPhone'
import { getStamp } from '../comparison'
import { getCost, type RunCost } from '../cost'
import { getEnd, listTree, type SubAgent } from '../subAgents'
import { useChat } from './ChatContext'
import styles from './SubAgents.module.css'

interface CostTreeProps {
  anchor: RefObject<HTMLButtonElement | null>
  /** The reply itself. */
  root: { agentId: string | null; name: string; rows: readonly MessageRow[] }
  subAgents: readonly SubAgent[]
  results: ReadonlyMap<string, SubAgentResult>
  /** The ids of the runs that have not ended. */
  active: ReadonlySet<string>
  onClose(): void
}

/** The cost of a reply and of each of its runs, the budget that limits the reply, and who pays. */
export function CostTree({ anchor, root, subAgents, results, active, onClose }: CostTreeProps) {
  const { t } = useTexts()
  const { workspaceId, findActor } = useChat()
  const isPhone = useIsPhone()
  const runs = listTree(subAgents).map(subAgent => ({
    subAgent,
    used: getCost(subAgent.rows, results.get(subAgent.runId)),
  }))
  const own = getCost(root.rows)
  const total: RunCost = runs.reduce(
    (sum, { used }) => ({ tokens: sum.tokens + used.tokens, cost: addCosts(sum.cost, used.cost) }),
    own,
  )
  const stamp = root.rows.map(getStamp).findLast(each => each !== null)
  const payer = findActor(stamp?.payer_id ?? null)?.name ?? stamp?.payer_name ?? ''
  const payment = describePayment({ paidBy: stamp?.paid_by, reason: stamp?.payer_reason, name: payer })
  const budgets = useBudgets(workspaceId).data ?? []
  const limits = budgets.flatMap(budget => (budget.scope === 'run_tree' ? (budget.limit_micro ?? []) : []))
  const limit = limits.length > 0 ? Math.min(...limits) : null
  return (
    <Popover.Root open onOpenChange={open => !open && onClose()}>
      <Popover.Anchor virtualRef={anchor as RefObject<HTMLButtonElement>} />
      <Popover.Portal>
        <Popover.Content
          className={cx(menuStyles.pop, styles.cost)}
          side={isPhone ? 'top' : 'right'}
          align={isPhone ? 'center' : 'end'}
          sideOffset={isPhone ? 4 : 12}
          collisionPadding={12}
          aria-label={t('subAgents.cost')}
          onCloseAutoFocus={event => {
            event.preventDefault()
            anchor.current?.focus()
          }}
          onInteractOutside={event => {
            if (event.target instanceof Node && anchor.current?.contains(event.target)) event.preventDefault()
          }}
        >
          <div className={styles.costHead}>
            <span>{t('subAgents.cost')}</span>
            <span className="num">
              <Amount used={total} />
            </span>
          </div>
          <ul>
            <CostLine
              depth={0}
              id={root.agentId ?? ''}
              name={root.name}
              avatar={findActor(root.agentId)?.avatar}
              note={stamp?.version == null ? '' : `v${stamp.version}`}
              used={own}
            />
            {runs.map(({ subAgent, used }) => (
              <CostLine
                key={subAgent.runId}
                depth={subAgent.metadata.agent.depth}
                id={subAgent.agentId ?? subAgent.metadata.agent.name}
                name={subAgent.metadata.agent.displayName}
                avatar={subAgent.metadata.avatar}
                note={active.has(subAgent.runId) ? t('working') : ''}
                end={active.has(subAgent.runId) ? null : getEnd(subAgent, results.get(subAgent.runId) ?? null).state}
                used={used}
              />
            ))}
          </ul>
          {limit !== null || payment ? (
            <div className={styles.costFoot}>
              {limit === null ? null : (
                <>
                  <div className={cx(styles.limit, 'num')}>
                    <span>{t('subAgents.limit')}</span>
                    <span>
                      <b>{formatCurrency(total.cost ?? 0)}</b> {t('budget.of', { limit: formatCurrency(limit) })}
                    </span>
                  </div>
                  <span className={styles.track} aria-hidden>
                    <i style={{ width: `${Math.min(100, ((total.cost ?? 0) / limit) * 100)}%` }} />
                  </span>
                </>
              )}
              {payment}
            </div>
          ) : null}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}

const addCosts = (a: number | null, b: number | null) => (a === null ? b : a + (b ?? 0))

interface CostLineProps {
  depth: number
  id: string
  name: string
  avatar: AvatarData | null | undefined
  note: string
  end?: EndedRunState | null
  used: RunCost
}

function CostLine({ depth, id, name, avatar, note, end, used }: CostLineProps) {
  const { t } = useTexts()
  return (
    <li style={{ '--depth': depth } as CSSProperties}>
      <Avatar id={id} name={name} avatar={avatar} square size="tiny" />
      <b>{name}</b>
      {end === 'failed' ? (
        <span className="no">{t('tool.error')}</span>
      ) : end === 'stopped' ? (
        <span>{t('tool.stopped')}</span>
      ) : note ? (
        <span>{note}</span>
      ) : null}
      <span>
        <Amount used={used} />
      </span>
    </li>
  )
}

/** A cost, or the number of tokens if the price is unknown. */
function Amount({ used }: { used: RunCost }) {
  const { t } = useTexts()
  return used.cost === null
    ? t('usedTokens', { count: used.tokens, n: formatNumber(used.tokens) })
    : formatCurrency(used.cost)
}
