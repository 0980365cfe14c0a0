import { useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { AgentRow, ListedAgentRow } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { Avatar } from '@/ui/Avatar'
import blocks from '@/ui/blocks.module.css'
import { SelectField } from '@/ui/Field'
import { moveInTree } from './moveInTree'
import styles from './TeamTree.module.css'
import { buildTree, wouldReportToItself } from './tree'
import { useAgentDrag } from './useAgentDrag'

interface TeamTreeProps {
  agent: AgentRow
  /** All agents of the workspace. */
  agents: readonly ListedAgentRow[]
  workspaceId: string
  /** The link to an agent's page. */
  link(id: string, children: ReactNode): ReactNode
}

/** The agents of the workspace as a tree. Editors drag an agent to another one, or move it by Alt and the arrow keys. */
export function TeamTree({ agent, agents, workspaceId, link }: TeamTreeProps) {
  const { t } = useTexts()
  const client = useQueryClient()
  const rows = buildTree(agents)
  const mayMove = agent.verbs.includes('update_agent_profile')
  const { getDragProps, topProps } = useAgentDrag(workspaceId, agents)
  return (
    <section className={blocks.sec}>
      <h2 className={blocks.h}>
        {t('tree.title')}
        {mayMove ? <span className="faint xs regular end">{t('tree.hint')}</span> : null}
      </h2>
      <ul className={styles.tree} aria-label={t('tree.title')}>
        {rows.map(({ agent: { actor, role, verbs }, depth }) => (
          <li
            key={actor.id}
            {...getDragProps({ actor, verbs })}
            className={styles.node}
            style={{ paddingInlineStart: `${8 + Math.min(depth, 8) * 28}px` }}
            aria-current={actor.id === agent.actor.id ? 'true' : undefined}
          >
            <Avatar id={actor.id} name={actor.name} avatar={actor.avatar} square />
            {link(actor.id, actor.name)}
            <span className="faint xs cut grow">{role}</span>
          </li>
        ))}
        {topProps ? (
          <li {...topProps} className={cx(styles.node, 'faint')}>
            {t('tree.toTop')}
          </li>
        ) : null}
      </ul>
      {mayMove ? (
        <div className={blocks.b}>
          <SelectField
            label={t('tree.parent')}
            hint={t('tree.keys')}
            value={agents.find(row => row.actor.id === agent.actor.id)?.parent_id ?? ''}
            options={[
              { value: '', label: t('tree.nobody') },
              ...rows
                .filter(row => !wouldReportToItself(agents, agent.actor.id, row.agent.actor.id))
                .map(row => ({ value: row.agent.actor.id, label: row.agent.actor.name })),
            ]}
            onChange={parent => void moveInTree(client, workspaceId, agents, agent.actor.id, parent || null)}
          />
        </div>
      ) : null}
    </section>
  )
}
