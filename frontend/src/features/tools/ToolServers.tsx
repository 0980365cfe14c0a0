import { Plus, TriangleAlert } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useToolServers, type WorkspaceRow, type WorkspaceToolRow } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { Loading } from '@/ui/Loading'
import { AddHttpServerDialog, AddMcpServerDialog } from './AddServerDialog'
import { AgentTools } from './AgentTools'
import { HttpServer } from './HttpServer'
import { ImportDialog } from './ImportDialog'
import { McpServer } from './McpServer'
import { SystemTools } from './SystemTools'
import type { SignInFailure } from './signIn'
import styles from './Tools.module.css'

type Adding = 'http' | 'openapi' | 'mcp'

interface ToolServersProps {
  workspace: WorkspaceRow
  /** The server to which the page is scrolled. */
  serverId: string
  /** Why the sign-in at an MCP server failed, if the browser has just come back from one that failed. */
  signInFailure?: SignInFailure | undefined
}

/** The tools of the workspace: system tools with their policies, and its servers with their tools. Editors manage them. */
export function ToolServers({ workspace, serverId, signInFailure }: ToolServersProps) {
  const { t } = useTexts()
  const query = useToolServers(workspace.id)
  const isLoaded = query.data !== undefined
  useEffect(() => {
    if (isLoaded && serverId) document.getElementById(serverId)?.scrollIntoView()
  }, [isLoaded, serverId])
  const [adding, setAdding] = useState<Adding | null>(null)
  const [newId, setNewId] = useState<string | null>(null)
  const [importedTool, setImportedTool] = useState<WorkspaceToolRow>()
  const isNewShown = adding === null && query.data?.some(server => server.id === newId)
  useEffect(() => {
    const card = isNewShown && newId ? document.getElementById(newId) : null
    card?.scrollIntoView({ block: 'nearest' })
    card?.focus({ preventScroll: true })
  }, [isNewShown, newId])
  const handleImported = (tools: readonly WorkspaceToolRow[]) => {
    setNewId(tools[0]?.server_id ?? null)
    setImportedTool(tools[0])
  }
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
      {signInFailure ? (
        <div className={cx(blocks.banner, blocks.bad)} role="alert">
          <TriangleAlert className="i s" aria-hidden />
          {t(`mcp.signIn.${signInFailure}`)}
        </div>
      ) : null}
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
      <AgentTools {...shared} />
      {query.data.map(server => (
        <div key={server.id} id={server.id} tabIndex={-1}>
          {server.kind === 'mcp' ? (
            <McpServer server={server} {...shared} />
          ) : (
            <HttpServer server={server} importedTool={importedTool} {...shared} />
          )}
        </div>
      ))}
      <AddHttpServerDialog {...dialogOf('http')} onAdded={server => setNewId(server.id)} />
      <ImportDialog {...dialogOf('openapi')} onAdded={handleImported} />
      <AddMcpServerDialog {...dialogOf('mcp')} onAdded={server => setNewId(server.id)} />
    </>
  )
}
