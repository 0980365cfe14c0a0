import { type FormEvent, useState } from 'react'
import {
  type AuthScheme,
  type HttpServerInput,
  type McpServerInput,
  type ToolServerRow,
  useAddHttpServer,
  useAddMcpServer,
} from '@/api'
import { type PlainTextKey, useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import { Dialog } from '@/ui/Dialog'
import { ErrorBanner } from '@/ui/ErrorBanner'
import { ServerFields, type ServerInput, type ServerTexts } from './ServerFields'

interface AddServerDialogProps {
  workspaceId: string
  open: boolean
  onAdded?: ((server: ToolServerRow) => void) | undefined
  onOpenChange(open: boolean): void
}

const emptyFields = { name: '', base_url: '', auth: 'none', auth_name: '', credential: '' } as const
export const emptyHttpServer: HttpServerInput = { ...emptyFields, kind: 'http', headers: {} }
const emptyMcpServer: McpServerInput = emptyFields

export const httpTexts: ServerTexts<HttpServerInput['auth']> = {
  schemes: ['none', 'bearer', 'header', 'basic', 'query'],
  url: 'tools.baseUrl',
  urlHint: 'tools.baseUrl.hint',
}
const mcpTexts: ServerTexts<McpServerInput['auth']> = {
  schemes: ['none', 'bearer', 'header', 'oauth'],
  nameHint: 'mcp.name.hint',
  url: 'mcp.url',
  urlHint: 'mcp.url.hint',
}

interface ServerFormProps {
  workspaceId: string
  onAdded?: ((server: ToolServerRow) => void) | undefined
  onClose(): void
}

/** The dialog that adds an HTTP server, whose tools editors describe in a form. */
export function AddHttpServerDialog({ workspaceId, open, onAdded, onOpenChange }: AddServerDialogProps) {
  const { t } = useTexts()
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title={t('tools.http.title')} description={t('tools.http.hint')}>
      <HttpServerForm workspaceId={workspaceId} onAdded={onAdded} onClose={() => onOpenChange(false)} />
    </Dialog>
  )
}

function HttpServerForm({ workspaceId, ...callbacks }: ServerFormProps) {
  const add = useAddHttpServer(workspaceId)
  return <Form add={add} empty={emptyHttpServer} texts={httpTexts} action="tools.http.action" {...callbacks} />
}

/** The dialog that adds an MCP server. */
export function AddMcpServerDialog({ workspaceId, open, onAdded, onOpenChange }: AddServerDialogProps) {
  const { t } = useTexts()
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title={t('mcp.add.title')} description={t('mcp.add.hint')}>
      <McpServerForm workspaceId={workspaceId} onAdded={onAdded} onClose={() => onOpenChange(false)} />
    </Dialog>
  )
}

function McpServerForm({ workspaceId, ...callbacks }: ServerFormProps) {
  const add = useAddMcpServer(workspaceId)
  return <Form add={add} empty={emptyMcpServer} texts={mcpTexts} action="mcp.add.action" {...callbacks} />
}

interface FormProps<Input extends ServerInput> {
  add: {
    mutate(input: Input, callbacks: { onSuccess(server: ToolServerRow): void }): void
    error: unknown
    isPending: boolean
  }
  empty: Input
  texts: ServerTexts<Input['auth']>
  action: PlainTextKey
  onAdded?: ((server: ToolServerRow) => void) | undefined
  onClose(): void
}

function Form<Input extends ServerInput<AuthScheme>>({
  add,
  empty,
  texts,
  action,
  onAdded,
  onClose,
}: FormProps<Input>) {
  const { t } = useTexts()
  const [input, setInput] = useState(empty)
  const handleSubmit = (event: FormEvent) => {
    event.preventDefault()
    add.mutate(
      { ...input, name: input.name.trim(), base_url: input.base_url.trim() },
      {
        onSuccess: server => {
          onClose()
          onAdded?.(server)
        },
      },
    )
  }
  return (
    <form className="col gap" onSubmit={handleSubmit}>
      <ServerFields<Input['auth']>
        {...texts}
        input={input}
        onChange={changes => setInput(before => ({ ...before, ...changes }))}
      />
      <ErrorBanner error={add.error} />
      <div className="row endrow">
        <Button onClick={onClose}>{t('cancel')}</Button>
        <Button tone="ink" type="submit" busy={add.isPending ? t('mcp.adding') : null}>
          {t(action)}
        </Button>
      </div>
    </form>
  )
}
