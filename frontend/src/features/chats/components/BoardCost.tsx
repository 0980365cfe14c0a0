import { Popover } from 'radix-ui'
import type { RefObject } from 'react'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { formatCurrency } from '@/lib/time'
import { Avatar } from '@/ui/Avatar'
import menuStyles from '@/ui/Menu.module.css'
import { useIsPhone } from '@/ui/useIsPhone'
import { listTries } from '../boards'
import { useBoardContext } from './boardContext'
import { useChat } from './ChatContext'
import styles from './SubAgents.module.css'

interface BoardCostProps {
  anchor: RefObject<HTMLButtonElement | null>
  onClose(): void
}

/** The cost of each task of a board and of its answer, beside what the board may cost. */
export function BoardCost({ anchor, onClose }: BoardCostProps) {
  const { t } = useTexts()
  const { findActor } = useChat()
  const { board, tasks } = useBoardContext()
  const isPhone = useIsPhone()
  const { cost_micro: total, estimate_micro: estimate, limit_micro: limit } = board
  const ofAnswer = total - tasks.reduce((sum, task) => sum + task.cost_micro, 0)
  const answerer = findActor(board.aggregator_id)
  return (
    <Popover.Root open onOpenChange={open => !open && onClose()}>
      <Popover.Anchor virtualRef={anchor as RefObject<HTMLButtonElement>} />
      <Popover.Portal>
        <Popover.Content
          className={cx(menuStyles.pop, styles.cost)}
          side={isPhone ? 'top' : 'bottom'}
          align={isPhone ? 'center' : 'end'}
          sideOffset={4}
          collisionPadding={12}
          aria-label={t('board.cost')}
          onCloseAutoFocus={event => {
            event.preventDefault()
            anchor.current?.focus()
          }}
          onInteractOutside={event => {
            if (event.target instanceof Node && anchor.current?.contains(event.target)) event.preventDefault()
          }}
        >
          <div className={styles.costHead}>
            <span>{t('board.cost')}</span>
            <span className="num">{formatCurrency(total)}</span>
          </div>
          <ul>
            {tasks.map(task => (
              <li key={task.id}>
                <Avatar
                  id={task.agent_id}
                  name={task.agent_name}
                  avatar={findActor(task.agent_id)?.avatar}
                  square
                  size="tiny"
                />
                <b>{task.agent_name}</b>
                <span>
                  {listTries(task).length > 1
                    ? t('board.numberAndTries', { n: task.number, tries: listTries(task).length })
                    : task.number}
                </span>
                <span>{formatCurrency(task.cost_micro)}</span>
              </li>
            ))}
            {ofAnswer > 0 ? (
              <li>
                <Avatar
                  id={answerer?.id ?? ''}
                  name={answerer?.name ?? t('agent')}
                  avatar={answerer?.avatar}
                  square
                  size="tiny"
                />
                <b>{answerer?.name ?? t('agent')}</b>
                <span>{t(board.supervisor_run_id ? 'board.planAndAnswer' : 'board.answer')}</span>
                <span>{formatCurrency(ofAnswer)}</span>
              </li>
            ) : null}
          </ul>
          {estimate === null && limit === null ? null : (
            <div className={styles.costFoot}>
              {estimate === null ? null : <p>{t('board.estimate', { amount: formatCurrency(estimate) })}</p>}
              {limit === null ? null : <p>{t('board.limit', { amount: formatCurrency(limit) })}</p>}
            </div>
          )}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}
