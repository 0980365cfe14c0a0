import type { NewAgentRow } from '@/api'
import { useTexts } from '@/lib/language'
import { Dialog } from '@/ui/Dialog'
import { AgentForm } from './AgentForm'

interface NewAgentDialogProps {
  workspaceId: string
  open: boolean
  onOpenChange(open: boolean): void
  onMade(agent: NewAgentRow): void
}

export function NewAgentDialog({ workspaceId, open, onOpenChange, onMade }: NewAgentDialogProps) {
  const { t } = useTexts()
  const made = (agent: NewAgentRow) => {
    onOpenChange(false)
    onMade(agent)
  }
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={t('newAgent')}
      description={t('newAgentHint')}
      className="wide"
    >
      <AgentForm workspaceId={workspaceId} onMade={made} action={t('createAndChat')} />
    </Dialog>
  )
}
