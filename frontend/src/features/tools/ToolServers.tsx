import { Plus } from 'lucide-react'
import { useState } from 'react'
import { useToolServers, type WorkspaceRow } from '@/api'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import { Loading } from '@/ui/Loading'
import { AddHttpServerDialog, AddMcpServerDialog } from './AddServerDialog'
import { HttpServer } from './HttpServer'
import { ImportDialog } from './ImportDialog'
import { McpServer } from './McpServer'
import { SystemTools } from './SystemTools'
import styles from './Tools.module.css'

type Adding = 'http' | 'openapi' | 'mcp'

/** The tools of the workspace: system tools with their policies, and its servers with their tools. Editors manage them. */
export function ToolServers({ workspace }: { workspace: WorkspaceRow }) {
  const { t } = useTexts()
  const query = useToolServers(workspace.id)
  const [adding, setAdding] = useState<Adding | null>(null)
  const mayChange = workspace.verbs.includes('set_tools')
  const shared = { workspaceId: workspace.id, mayChange }
  const dialogOf = (kind: Adding) => ({
    workspaceId: workspace.id,
    open: adding === kind,
    onOpenChange: (isOpen: boolean) => setAdding(isOpen ? kind : null),
  })
  if (!query.data) return <Loading query={query} />
  return (
    <>
      <div className="row">
        <span className="muted sm grow">{t('tools.lead')}</span>
      </div>
      {mayChange ? (
        <div className={styles.add}>
          <Button aria-haspopup="dialog" onClick={() => setAdding('http')}>
            <Plus className="i" aria-hidden />
            {t('tools.http.add')}
          </Button>
          <Button aria-haspopup="dialog" onClick={() => setAdding('openapi')}>
            <Plus className="i" aria-hidden />
            {t('tools.import.add')}
          </Button>
          <Button aria-haspopup="dialog" onClick={() => setAdding('mcp')}>
            <Plus className="i" aria-hidden />
            {t('mcp.add')}
          </Button>
        </div>
      ) : (
        <p className="faint sm">{t('tools.editorsChoose')}</p>
      )}
      <SystemTools {...shared} />
      {query.data.map(server =>
        server.kind === 'mcp' ? (
          <McpServer key={server.id} server={server} {...shared} />
        ) : (
          <HttpServer key={server.id} server={server} {...shared} />
        ),
      )}
      <AddHttpServerDialog {...dialogOf('http')} />
      <ImportDialog {...dialogOf('openapi')} />
      <AddMcpServerDialog {...dialogOf('mcp')} />
    </>
  )
}
