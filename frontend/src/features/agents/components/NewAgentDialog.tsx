import { useState } from 'react'
import { useTexts } from '@/lib/language'
import { Dialog } from '@/ui/Dialog'
import dialogStyles from '@/ui/Dialog.module.css'
import { Segments } from '@/ui/Segments'
import { AgentForm } from './AgentForm'
import { ImportForm } from './ImportForm'

interface NewAgentDialogProps {
  workspaceId: string
  open: boolean
  onOpenChange(open: boolean): void
  onMade(chatId: string | null): void
}

/** The dialog that creates an agent from a template, a sentence or a file, or a whole team. */
export function NewAgentDialog({ workspaceId, open, onOpenChange, onMade }: NewAgentDialogProps) {
  const { t } = useTexts()
  const [isFile, setFile] = useState(false)
  const handleMade = (chatId: string | null) => {
    onOpenChange(false)
    setFile(false)
    onMade(chatId)
  }
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={t('newAgent')}
      description={t(isFile ? 'fromFileHint' : 'newAgentHint')}
      className={dialogStyles.wide}
    >
      <Segments
        label={t('newAgent')}
        value={isFile ? 'file' : 'form'}
        options={[
          { value: 'form', label: t('describeAgent') },
          { value: 'file', label: t('fromFile') },
        ]}
        onChange={source => setFile(source === 'file')}
      />
      {isFile ? (
        <ImportForm workspaceId={workspaceId} onMade={handleMade} />
      ) : (
        <AgentForm workspaceId={workspaceId} onMade={handleMade} action={t('createAndChat')} />
      )}
    </Dialog>
  )
}
