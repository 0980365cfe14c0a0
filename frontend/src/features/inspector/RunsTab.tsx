import { useState } from 'react'
import { type AgentRow, type InspectedRunRow, type ListedChatRow, type RunStateFilter, useAgentRuns } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { formatCurrency, formatRelative, formatSeconds } from '@/lib/time'
import { endedRunStates } from '@/realtime'
import { Avatar } from '@/ui/Avatar'
import { Button } from '@/ui/Button'
import { Loading } from '@/ui/Loading'
import { useIsPhone } from '@/ui/useIsPhone'
import { describeState } from './figures'
import styles from './Inspector.module.css'
import { RunView } from './RunView'
import { StampBadge } from './StampBadge'

const outcomes = ['all', 'active', ...endedRunStates] as const

interface RunsTabProps {
  agent: AgentRow
  /** The handle of the workspace. */
  workspace: string
  /** The agent's chats that the reader is in. */
  chats: readonly ListedChatRow[]
  /** The open run; null: the newest one, on a phone the list. */
  runId: string | null
  onOpen(runId: string | null): void
  onGo(path: string): void
}

/** The runs of an agent: the list, and beside it the open run. */
export function RunsTab({ agent, workspace, chats, runId, onOpen, onGo }: RunsTabProps) {
  const { t } = useTexts()
  const isPhone = useIsPhone()
  const [chat, setChat] = useState('')
  const [state, setState] = useState<RunStateFilter>('all')
  const query = useAgentRuns(agent.actor.id, { chat, state })
  const runs = query.data?.pages.flatMap(page => page.results) ?? []
  const opened = runId ?? (isPhone ? null : (runs[0]?.run.id ?? null))
  return (
    <div className={styles.split} data-view={runId ? 'detail' : 'list'}>
      <section className={styles.list} aria-label={t('agentTab.runs')}>
        <div className={styles.filters}>
          <select aria-label={t('inspector.chat')} value={chat} onChange={event => setChat(event.target.value)}>
            <option value="">{t('inspector.allChats')}</option>
            {chats.map(row => (
              <option key={row.chat.id} value={row.chat.id}>
                {row.chat.title}
              </option>
            ))}
          </select>
          <select
            aria-label={t('inspector.outcome')}
            value={state}
            onChange={event => setState(event.target.value as RunStateFilter)}
          >
            {outcomes.map(outcome => (
              <option key={outcome} value={outcome}>
                {t(`inspector.outcome.${outcome}`)}
              </option>
            ))}
          </select>
        </div>
        {query.data ? null : <Loading query={query} lines={6} />}
        {query.data && runs.length === 0 ? <p className={styles.note}>{t('inspector.noRuns')}</p> : null}
        <ul>
          {runs.map(row => (
            <li key={row.run.id}>
              <RunItem row={row} isOpened={row.run.id === opened} onOpen={() => onOpen(row.run.id)} />
            </li>
          ))}
        </ul>
        {query.hasNextPage ? (
          <div className={styles.note}>
            <Button busy={query.isFetchingNextPage ? t('loading') : null} onClick={() => void query.fetchNextPage()}>
              {t('inspector.moreRuns')}
            </Button>
          </div>
        ) : null}
      </section>
      <div className={styles.opened}>
        {runId && isPhone ? (
          <Button size="xs" className={styles.back} onClick={() => onOpen(null)}>
            {t('inspector.backToRuns')}
          </Button>
        ) : null}
        {opened ? <RunView key={opened} runId={opened} workspace={workspace} onGo={onGo} /> : null}
      </div>
    </div>
  )
}

function RunItem({ row, isOpened, onOpen }: { row: InspectedRunRow; isOpened: boolean; onOpen(): void }) {
  const { t } = useTexts()
  const { run, person } = row
  const state = describeState(run)
  const took = run.state === 'completed' && row.seconds !== null ? formatSeconds(row.seconds) : null
  return (
    <button type="button" className={styles.item} aria-current={isOpened ? 'true' : undefined} onClick={onOpen}>
      <span className="row">
        {person ? (
          <Avatar id={person.id} name={person.name} avatar={person.avatar} square={person.kind === 'agent'} />
        ) : null}
        <b className="cut grow">{row.chat_title}</b>
        <span className="faint xs nowrap">{formatRelative(run.created_at)}</span>
      </span>
      <span className={cx(styles.meta, 'row')}>
        <span className="cut grow">{t(`inspector.short.${row.why}`, { name: person?.name ?? t('someoneGone') })}</span>
        <span className={state.tone === 'bad' ? 'no' : undefined}>
          {took ? t('inspector.seconds', { n: took }) : t(state.key)}
        </span>
      </span>
      <span className={cx(styles.meta, 'row faint')}>
        {run.stamp ? <StampBadge stamp={run.stamp} /> : null}
        <span className={styles.cost}>{formatCurrency(row.cost_micro)}</span>
      </span>
    </button>
  )
}
