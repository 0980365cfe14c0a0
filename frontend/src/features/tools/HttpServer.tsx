import { Braces, Globe, Plus } from 'lucide-react'
import { useState } from 'react'
import type { WorkspaceToolRow } from '@/api'
import { useTexts } from '@/lib/language'
import { formatRelative } from '@/lib/time'
import { Button } from '@/ui/Button'
import { ImportDialog } from './ImportDialog'
import { ServerOutcome, type ServerProps, ServerSection } from './ServerSection'
import { ToolFormDialog } from './ToolFormDialog'

interface HttpServerProps extends ServerProps {
  /** The first tool that was imported together with a server since the page was opened. */
  importedTool: WorkspaceToolRow | undefined
}

/** One server of HTTP tools, whose tools are described by forms or an OpenAPI document. */
export function HttpServer({ importedTool, ...props }: HttpServerProps) {
  const { server, workspaceId } = props
  const { t } = useTexts()
  const [isAdding, setAdding] = useState(false)
  const [newTool, setNewTool] = useState<WorkspaceToolRow>()
  const isOpenApi = server.kind === 'openapi'
  const AddDialog = isOpenApi ? ImportDialog : ToolFormDialog
  return (
    <>
      <ServerSection
        {...props}
        newTool={newTool ?? importedTool}
        icon={isOpenApi ? Braces : Globe}
        badge={isOpenApi ? 'OpenAPI' : 'HTTP'}
        state={
          server.state === 'untested' || !server.tested_at ? (
            <span className="faint regular xs">{t('tools.untested')}</span>
          ) : (
            <ServerOutcome
              isOk={server.state === 'ok'}
              text={
                server.state === 'ok'
                  ? t('tools.tested', { when: formatRelative(server.tested_at) })
                  : t('tools.failed')
              }
            />
          )
        }
        actions={
          <Button size="xs" aria-haspopup="dialog" onClick={() => setAdding(true)}>
            {isOpenApi ? null : <Plus className="i s" aria-hidden />}
            {t(isOpenApi ? 'tools.choose' : 'tools.addOne')}
          </Button>
        }
      />
      <AddDialog
        workspaceId={workspaceId}
        server={server}
        open={isAdding}
        onAdded={tools => setNewTool(tools[0])}
        onOpenChange={setAdding}
      />
    </>
  )
}
