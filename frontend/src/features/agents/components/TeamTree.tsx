import { useQueryClient } from '@tanstack/react-query'
import { type KeyboardEvent, type ReactNode, useState } from 'react'
import type { AgentRow, AgentSummaryRow } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { Avatar } from '@/ui/Avatar'
import blocks from '@/ui/blocks.module.css'
import { SelectField } from '@/ui/Field'
import { moveInTree, moveInTreeByKey } from './moveInTree'
import styles from './TeamTree.module.css'
import { buildTree, wouldReportToItself } from './tree'

interface TeamTreeProps {
  agent: AgentRow
  /** All agents of the workspace. */
  agents: readonly AgentSummaryRow[]
  workspaceId: string
  /** The link to an agent's page. */
  link(id: string, children: ReactNode): ReactNode
}

/** The place at the end of the tree for an agent that is to report to nobody. */
const TOP = ''

/** The agents of the workspace as a tree. Editors drag an agent to another one, or move it by Alt and the arrow keys. */
export function TeamTree({ agent, agents, workspaceId, link }: TeamTreeProps) {
  const { t } = useTexts()
  const client = useQueryClient()
  const [target, setTarget] = useState<string | null>(null)
  const [dragged, setDragged] = useState<string | null>(null)
  const rows = buildTree(agents)
  const mayMove = agent.verbs.includes('update_agent_profile')
  const move = (id: string, parentId: string | null) => moveInTree(client, workspaceId, agents, id, parentId)
  const moveByKey = (event: KeyboardEvent, id: string) => {
    if (!event.altKey || (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight')) return
    event.preventDefault()
    void moveInTreeByKey(client, workspaceId, agents, id, event.key === 'ArrowLeft' ? 'left' : 'right')
  }
  return (
    <section className={blocks.sec}>
      <h2 className={blocks.h}>
        {t('tree.title')}
        {mayMove ? <span className="faint xs regular end">{t('tree.hint')}</span> : null}
      </h2>
      <ul className={styles.tree} aria-label={t('tree.title')}>
        {rows.map(({ agent: { actor, role }, depth }) => (
          <li
            key={actor.id}
            className={cx(styles.node, target === actor.id && dragged !== actor.id && styles.target)}
            style={{ paddingInlineStart: `${8 + Math.min(depth, 8) * 28}px` }}
            aria-current={actor.id === agent.actor.id ? 'true' : undefined}
            draggable={mayMove}
            onKeyDown={event => mayMove && moveByKey(event, actor.id)}
            onDragStart={() => setDragged(actor.id)}
            onDragEnd={() => {
              setDragged(null)
              setTarget(null)
            }}
            onDragOver={event => {
              if (!dragged) return
              event.preventDefault()
              setTarget(actor.id)
            }}
            onDrop={event => {
              event.preventDefault()
              if (dragged && dragged !== actor.id) void move(dragged, actor.id)
            }}
          >
            <Avatar id={actor.id} name={actor.name} avatar={actor.avatar} square />
            {link(actor.id, actor.name)}
            <span className="faint xs cut grow">{role}</span>
          </li>
        ))}
        {agents.some(row => row.actor.id === dragged && row.parent_id) ? (
          <li
            className={cx(styles.node, 'faint', target === TOP && styles.target)}
            onDragOver={event => {
              event.preventDefault()
              setTarget(TOP)
            }}
            onDrop={event => {
              event.preventDefault()
              if (dragged) void move(dragged, null)
            }}
          >
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
            onChange={parent => void move(agent.actor.id, parent || null)}
          />
        </div>
      ) : null}
    </section>
  )
}
