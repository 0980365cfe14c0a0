import { type FormEvent, useState } from 'react'
import { type ToolServerRow, useReplaceCredential } from '@/api'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import { Dialog } from '@/ui/Dialog'
import { ErrorBanner } from '@/ui/ErrorBanner'
import { CredentialField } from './ServerFields'

interface ReplaceCredentialDialogProps {
  server: ToolServerRow
  workspaceId: string
  open: boolean
  onOpenChange(open: boolean): void
}

/** The dialog that stores another token, key or password of a server. Its tools and their settings stay. */
export function ReplaceCredentialDialog({ server, workspaceId, open, onOpenChange }: ReplaceCredentialDialogProps) {
  const { t } = useTexts()
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={t('tools.replaceCredential', { name: server.name })}
      description={t('tools.replaceCredential.hint')}
    >
      <Form server={server} workspaceId={workspaceId} onClose={() => onOpenChange(false)} />
    </Dialog>
  )
}

interface FormProps {
  server: ToolServerRow
  workspaceId: string
  onClose(): void
}

function Form({ server, workspaceId, onClose }: FormProps) {
  const { t } = useTexts()
  const replace = useReplaceCredential(workspaceId)
  const [credential, setCredential] = useState('')
  const handleSubmit = (event: FormEvent) => {
    event.preventDefault()
    replace.mutate({ id: server.id, revision: server.revision, credential }, { onSuccess: onClose })
  }
  return (
    <form className="col gap" onSubmit={handleSubmit}>
      <CredentialField auth={server.auth} value={credential} onChange={setCredential} />
      <ErrorBanner error={replace.error} />
      <div className="row endrow">
        <Button onClick={onClose}>{t('cancel')}</Button>
        <Button tone="ink" type="submit" busy={replace.isPending ? t('tools.replaceCredential.action') : null}>
          {t('tools.replaceCredential.action')}
        </Button>
      </div>
    </form>
  )
}
