import { useAgentsWithTool, type WorkspaceToolRow } from '@/api'
import { useTexts } from '@/lib/language'
import { Loading } from '@/ui/Loading'
import styles from './Tools.module.css'

interface AgentsWithToolProps {
  tool: WorkspaceToolRow
  /** What happens to the agents, with their names. */
  text: 'tools.rename.agents' | 'tools.deleteTool.agents'
}

/** Says which agents have a tool, in production or in a draft, before it is taken from them. */
export function AgentsWithTool({ tool, text }: AgentsWithToolProps) {
  const { t } = useTexts()
  const query = useAgentsWithTool(tool.id)
  if (!query.data) return <Loading query={query} lines={1} />
  const names = query.data.map(agent => agent.actor.name)
  return (
    <p className={styles.agents} role="status">
      {names.length === 0 ? t('tools.noAgents') : t(text, { names: names.join(t('listJoin')) })}
    </p>
  )
}
