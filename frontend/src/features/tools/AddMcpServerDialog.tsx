import { type FormEvent, useState } from 'react'
import { type McpServerInput, useAddMcpServer } from '@/api'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import { Dialog } from '@/ui/Dialog'
import { ErrorBanner } from '@/ui/ErrorBanner'
import { SelectField, TextField } from '@/ui/Field'

interface AddMcpServerDialogProps {
  workspaceId: string
  open: boolean
  onOpenChange(open: boolean): void
}

/** The dialog that adds an MCP server by its address. */
export function AddMcpServerDialog({ workspaceId, open, onOpenChange }: AddMcpServerDialogProps) {
  const { t } = useTexts()
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title={t('mcp.add.title')} description={t('mcp.add.hint')}>
      <Form workspaceId={workspaceId} onClose={() => onOpenChange(false)} />
    </Dialog>
  )
}

type Scheme = McpServerInput['auth']
const schemes: readonly Scheme[] = ['none', 'bearer', 'header', 'oauth']
const emptyInput: McpServerInput = { name: '', base_url: '', auth: 'none', auth_name: '', credential: '' }

function Form({ workspaceId, onClose }: { workspaceId: string; onClose(): void }) {
  const { t } = useTexts()
  const add = useAddMcpServer(workspaceId)
  const [input, setInput] = useState(emptyInput)
  const update = (changes: Partial<McpServerInput>) => setInput(before => ({ ...before, ...changes }))
  const hasCredential = input.auth === 'bearer' || input.auth === 'header'
  const handleSubmit = (event: FormEvent) => {
    event.preventDefault()
    add.mutate({ ...input, name: input.name.trim(), base_url: input.base_url.trim() }, { onSuccess: onClose })
  }
  return (
    <form className="col gap" onSubmit={handleSubmit}>
      <TextField
        label={t('mcp.name')}
        hint={t('mcp.name.hint')}
        value={input.name}
        required
        maxLength={80}
        autoComplete="off"
        onChange={name => update({ name })}
      />
      <TextField
        label={t('mcp.url')}
        type="url"
        placeholder="https://"
        value={input.base_url}
        required
        maxLength={400}
        autoComplete="off"
        className="mono"
        onChange={base_url => update({ base_url })}
      />
      <SelectField<Scheme>
        label={t('mcp.auth')}
        hint={input.auth === 'oauth' ? t('mcp.auth.oauth.hint') : null}
        value={input.auth}
        options={schemes.map(value => ({ value, label: t(`mcp.auth.${value}`) }))}
        onChange={auth => update({ auth, auth_name: '', credential: '' })}
      />
      {input.auth === 'header' ? (
        <TextField
          label={t('mcp.header')}
          placeholder="X-Api-Key"
          value={input.auth_name}
          required
          maxLength={80}
          autoComplete="off"
          className="mono"
          onChange={auth_name => update({ auth_name })}
        />
      ) : null}
      {hasCredential ? (
        <TextField
          label={t(input.auth === 'header' ? 'mcp.key' : 'mcp.token')}
          hint={t('mcp.stored')}
          type="password"
          value={input.credential}
          required
          maxLength={4000}
          autoComplete="off"
          onChange={credential => update({ credential })}
        />
      ) : null}
      <ErrorBanner error={add.error} />
      <div className="row endrow">
        <Button onClick={onClose}>{t('cancel')}</Button>
        <Button tone="ink" type="submit" busy={add.isPending ? t('mcp.adding') : null}>
          {t('mcp.add.action')}
        </Button>
      </div>
    </form>
  )
}
