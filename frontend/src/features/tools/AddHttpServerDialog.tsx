import { type FormEvent, useState } from 'react'
import { useAddHttpServer } from '@/api'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import { Dialog } from '@/ui/Dialog'
import { ErrorBanner } from '@/ui/ErrorBanner'
import { emptyServer, ServerFields } from './ServerFields'

interface AddHttpServerDialogProps {
  workspaceId: string
  open: boolean
  onOpenChange(open: boolean): void
}

/** The dialog that adds a server whose tools are described by forms. */
export function AddHttpServerDialog({ workspaceId, open, onOpenChange }: AddHttpServerDialogProps) {
  const { t } = useTexts()
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title={t('tools.http.title')} description={t('tools.http.hint')}>
      <Form workspaceId={workspaceId} onClose={() => onOpenChange(false)} />
    </Dialog>
  )
}

function Form({ workspaceId, onClose }: { workspaceId: string; onClose(): void }) {
  const { t } = useTexts()
  const add = useAddHttpServer(workspaceId)
  const [input, setInput] = useState(emptyServer)
  const handleSubmit = (event: FormEvent) => {
    event.preventDefault()
    add.mutate({ ...input, name: input.name.trim(), base_url: input.base_url.trim() }, { onSuccess: onClose })
  }
  return (
    <form className="col gap" onSubmit={handleSubmit}>
      <ServerFields input={input} onChange={changes => setInput(before => ({ ...before, ...changes }))} />
      <ErrorBanner error={add.error} />
      <div className="row endrow">
        <Button onClick={onClose}>{t('cancel')}</Button>
        <Button tone="ink" type="submit" busy={add.isPending ? t('mcp.adding') : null}>
          {t('tools.http.action')}
        </Button>
      </div>
    </form>
  )
}
