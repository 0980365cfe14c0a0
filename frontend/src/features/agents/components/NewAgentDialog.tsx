import { useState } from 'react'
import type { NewAgentRow } from '@/api'
import { useTexts } from '@/lib/language'
import { Dialog } from '@/ui/Dialog'
import { AgentForm } from './AgentForm'
import { ImportForm } from './ImportForm'

interface NewAgentDialogProps {
  workspaceId: string
  open: boolean
  onOpenChange(open: boolean): void
  onMade(agent: NewAgentRow): void
}

/** A new agent: described, from a template, or from a file. */
export function NewAgentDialog({ workspaceId, open, onOpenChange, onMade }: NewAgentDialogProps) {
  const { t } = useTexts()
  const [isFile, setFile] = useState(false)
  const made = (agent: NewAgentRow) => {
    onOpenChange(false)
    setFile(false)
    onMade(agent)
  }
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={t('newAgent')}
      description={t(isFile ? 'fromFileHint' : 'newAgentHint')}
      className="wide"
    >
      <fieldset className="seg" aria-label={t('newAgent')}>
        <button type="button" aria-pressed={!isFile} onClick={() => setFile(false)}>
          {t('describeAgent')}
        </button>
        <button type="button" aria-pressed={isFile} onClick={() => setFile(true)}>
          {t('fromFile')}
        </button>
      </fieldset>
      {isFile ? (
        <ImportForm workspaceId={workspaceId} onMade={made} />
      ) : (
        <AgentForm workspaceId={workspaceId} onMade={made} action={t('createAndChat')} />
      )}
    </Dialog>
  )
}
