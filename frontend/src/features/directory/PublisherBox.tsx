import { useState } from 'react'
import { type DirectoryDetailRow, type PublicUseRow, usePublicUse } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { publishPath } from '@/lib/paths'
import { formatCalendarDay } from '@/lib/time'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { Loading } from '@/ui/Loading'
import { formatCount } from './counts'
import styles from './Directory.module.css'
import { TakedownDialog } from './TakedownDialog'

interface PublisherBoxProps {
  agent: DirectoryDetailRow
  workspaceHandles: ReadonlyMap<string, string>
  onGo(path: string): void
}

/** What editors of the publisher can do with their public agent, and how much it is used. */
export function PublisherBox({ agent, workspaceHandles, onGo }: PublisherBoxProps) {
  const { t } = useTexts()
  const [isTakingDown, setTakingDown] = useState(false)
  const { origin_id } = agent
  const workspace = workspaceHandles.get(agent.origin_workspace_id ?? '')
  return (
    <section className={blocks.sec}>
      <h2 className={blocks.h}>{t('publisher.yours')}</h2>
      <div className={cx(blocks.b, 'col', styles.publisher)}>
        {origin_id && workspace ? (
          <Button onClick={() => onGo(publishPath(workspace, origin_id))}>{t('publish.update.dots')}</Button>
        ) : null}
        {agent.verbs.includes('take_down_agent') ? (
          <Button tone="bad" aria-haspopup="dialog" onClick={() => setTakingDown(true)}>
            {t('takedown.dots')}
          </Button>
        ) : null}
      </div>
      <p className={cx(blocks.b, 'faint xs')}>{t('publish.promptIsReadable')}</p>
      {origin_id && agent.origin_workspace_id ? (
        <UseByDay workspaceId={agent.origin_workspace_id} originId={origin_id} />
      ) : null}
      {isTakingDown ? <TakedownDialog agent={agent} onClose={() => setTakingDown(false)} /> : null}
    </section>
  )
}

/** The use of the public agent on each day with use. Numbers only. */
function UseByDay({ workspaceId, originId }: { workspaceId: string; originId: string }) {
  const { t } = useTexts()
  const query = usePublicUse(workspaceId, originId)
  const days = query.data
  return (
    <div className={cx(blocks.b, styles.use)}>
      <h3>{t('publisher.use')}</h3>
      {days === undefined ? (
        <Loading query={query} lines={3} />
      ) : days.length === 0 ? (
        <p className="faint sm">{t('publisher.noUse')}</p>
      ) : (
        <div className={styles.scroll}>
          <table className={styles.days}>
            <thead>
              <tr>
                <th>{t('usage.day')}</th>
                <th>{t('publisher.replies')}</th>
                <th>{t('chats')}</th>
                <th>{t('publisher.workspaces')}</th>
              </tr>
            </thead>
            <tbody>
              {days.map(use => (
                <Day key={use.day} use={use} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      <p className="faint xs">{t('publisher.numbersOnly')}</p>
    </div>
  )
}

const Day = ({ use }: { use: PublicUseRow }) => (
  <tr>
    <td>{formatCalendarDay(use.day)}</td>
    <td>{formatCount(use.runs)}</td>
    <td>{formatCount(use.chats)}</td>
    <td>{formatCount(use.workspaces)}</td>
  </tr>
)
