import { Hash } from 'lucide-react'
import type { ReactNode } from 'react'
import { type DirectoryDetailRow, useChats, type WorkspaceRow } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { formatList } from '@/lib/names'
import { chatPath } from '@/lib/paths'
import { formatCurrency, formatNumber, formatSeconds } from '@/lib/time'
import blocks from '@/ui/blocks.module.css'
import { PathLink } from '@/ui/PathLink'
import { formatCount } from './counts'
import styles from './Directory.module.css'
import { nameLanguage } from './languages'

/** What a reply of a public agent costs, which model it uses, and how much it is used. */
export function AgentFacts({ agent }: { agent: DirectoryDetailRow }) {
  const { t } = useTexts()
  const { typical } = agent
  return (
    <dl className={cx(blocks.sec, styles.facts)}>
      <Fact name={t('directory.typicalCost')}>
        {typical ? (
          <>
            <b>{t('directory.perReply', { cost: formatCurrency(typical.median_micro) })}</b>
            <span className="faint xs">
              {t('directory.costRange', {
                low: formatCurrency(typical.low_micro),
                high: formatCurrency(typical.high_micro),
              })}
            </span>
          </>
        ) : (
          <span className="faint">{t('directory.notEnoughUse')}</span>
        )}
      </Fact>
      {typical?.median_seconds ? (
        <Fact name={t('directory.typicalTime')}>
          {t('directory.seconds', { n: formatSeconds(typical.median_seconds) })}
        </Fact>
      ) : null}
      <Fact name={t('model')}>{agent.model || t('directory.yourDefaultModel')}</Fact>
      <Fact name={t('limits')}>{t('nSteps', { count: agent.max_steps })}</Fact>
      <Fact name={t('directory.paidBy')}>{t('directory.paidByYou')}</Fact>
      <Fact name={t('directory.usedBy')}>{t('directory.workspaces', { n: formatCount(agent.workspace_count) })}</Fact>
      <Fact name={t('directory.replies30')}>{formatCount(agent.run_count)}</Fact>
      {agent.languages.length > 0 ? (
        <Fact name={t('directory.answersIn')}>{formatList(agent.languages.map(nameLanguage))}</Fact>
      ) : null}
    </dl>
  )
}

const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <div>
    <dt className="muted">{name}</dt>
    <dd>{children}</dd>
  </div>
)

interface InUseHereProps {
  agentId: string
  workspace: WorkspaceRow
  onGo(path: string): void
}

/** The reader's chats in this workspace that the agent is in. Renders nothing if there are none. */
export function InUseHere({ agentId, workspace, onGo }: InUseHereProps) {
  const { t } = useTexts()
  const chats = (useChats(workspace.id).data ?? []).filter(row => row.participants.some(actor => actor.id === agentId))
  if (chats.length === 0) return null
  return (
    <section className={blocks.sec}>
      <h2 className={blocks.h}>
        {t('directory.inUseHere')}
        <span className="end faint xs num">{formatNumber(chats.length)}</span>
      </h2>
      <ul className={cx(blocks.rows, blocks.in, styles.used)}>
        {chats.map(({ chat }) => (
          <li key={chat.id}>
            <Hash className="i s faint" aria-hidden />
            <PathLink className="cut grow" path={chatPath(workspace.handle, chat.id)} onGo={onGo}>
              {chat.title}
            </PathLink>
          </li>
        ))}
      </ul>
    </section>
  )
}
