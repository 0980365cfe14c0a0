import { useOfferedTools } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { getToolTextKey } from '@/lib/toolTexts'
import blocks from '@/ui/blocks.module.css'
import { Loading } from '@/ui/Loading'
import { PolicySelect } from './PolicySelect'
import styles from './Tools.module.css'

/** The tools that every workspace has, with the policies of this one. */
export function SystemTools({ workspaceId, mayChange }: { workspaceId: string; mayChange: boolean }) {
  const { t } = useTexts()
  const query = useOfferedTools(workspaceId)
  if (!query.data) return <Loading query={query} />
  const tools = query.data.filter(tool => tool.tool_type === 'system')
  const off = tools.filter(tool => tool.policy === 'off').length
  return (
    <section className={blocks.sec} aria-label={t('tools.system')}>
      <h2 className={cx(blocks.h, styles.head)}>
        <span>{t('tools.system')}</span>
        <span className="faint regular xs end">{t('tools.onOff', { on: tools.length - off, off })}</span>
      </h2>
      <ul className={cx(blocks.rows, blocks.in)}>
        {tools.map(tool => {
          const text = getToolTextKey(tool.name)
          return (
            <li key={tool.name} className={cx(styles.tool, tool.policy === 'off' && styles.off)}>
              <span className={cx(styles.name, 'mono')}>{tool.name}</span>
              <span className={cx(styles.about, 'grow cut')}>{text ? t(text) : tool.description}</span>
              <span className="faint xs only-wide">{t(`mcp.does.${tool.effect}`)}</span>
              <PolicySelect tool={tool} workspaceId={workspaceId} mayChange={mayChange} />
            </li>
          )
        })}
      </ul>
    </section>
  )
}
