import { useOfferedTools } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { Avatar } from '@/ui/Avatar'
import blocks from '@/ui/blocks.module.css'
import { PolicySelect } from './PolicySelect'
import styles from './Tools.module.css'

/** The public agents that agents of the workspace have as tools, with its policies for them. */
export function AgentTools({ workspaceId, mayChange }: { workspaceId: string; mayChange: boolean }) {
  const { t } = useTexts()
  const tools = (useOfferedTools(workspaceId).data ?? []).filter(tool => tool.tool_type === 'agent')
  if (tools.length === 0) return null
  const off = tools.filter(tool => tool.policy === 'off').length
  return (
    <section className={blocks.sec} aria-label={t('subAgents.agentTools')}>
      <h2 className={cx(blocks.h, styles.head)}>
        <span>{t('subAgents.agentTools')}</span>
        <span className="faint regular xs end">{t('tools.onOff', { on: tools.length - off, off })}</span>
      </h2>
      <ul className={cx(blocks.rows, blocks.in)}>
        {tools.map(tool => (
          <li key={tool.name} className={cx(styles.tool, tool.policy === 'off' && styles.off)}>
            {tool.agent ? <Avatar id={tool.agent.id} name={tool.title} avatar={tool.agent.avatar} square /> : null}
            <span className={styles.name} title={tool.name}>
              {tool.title}
            </span>
            <span className={cx(styles.about, 'grow cut')}>
              {tool.publisher_name === null
                ? t('subAgents.readyMade')
                : t('subAgents.byPublisher', { name: tool.publisher_name })}
            </span>
            <PolicySelect tool={tool} label={tool.title} workspaceId={workspaceId} mayChange={mayChange} />
          </li>
        ))}
      </ul>
      <p className={cx(blocks.b, 'faint xs')}>{t('tools.agentsHint')}</p>
    </section>
  )
}
