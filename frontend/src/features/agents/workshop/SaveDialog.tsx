import { TriangleAlert } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { type AgentRow, ApiError, useDraftTrial } from '@/api'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { Dialog } from '@/ui/Dialog'
import { ErrorBanner } from '@/ui/ErrorBanner'
import { TextField } from '@/ui/Field'
import { isSameContent } from '../content'
import type { DraftActions } from './actions'
import type { Workshop } from './draftSession'
import { countUnifiedChanges } from './layerGutter'
import { VoteCounts } from './VoteCounts'

interface SaveDialogProps {
  agent: AgentRow
  workshop: Workshop
  actions: DraftActions
  open: boolean
  onOpenChange(open: boolean): void
  /** Called when a newer version was saved meanwhile: shows its changes. */
  onStale(): void
  onSaved(): void
}

export function SaveDialog(props: SaveDialogProps) {
  const { t } = useTexts()
  const nextVersion = `v${(props.agent.spec.number ?? 0) + 1}`
  return (
    <Dialog
      open={props.open}
      onOpenChange={props.onOpenChange}
      title={t('saveTitle', { name: props.agent.actor.name, version: nextVersion })}
      description={t('saveHint')}
    >
      <SaveForm {...props} nextVersion={nextVersion} />
    </Dialog>
  )
}

const isStaleBase = (error: unknown) => error instanceof ApiError && error.code === 'stale_base'

function SaveForm({
  agent,
  workshop,
  actions,
  onOpenChange,
  onStale,
  onSaved,
  nextVersion,
}: SaveDialogProps & { nextVersion: string }) {
  const { t } = useTexts()
  const [message, setMessage] = useState('')
  const [error, setError] = useState<unknown>(null)
  const counts = countUnifiedChanges(agent.spec.prompt, workshop.content.prompt)
  const save = async (event: FormEvent) => {
    event.preventDefault()
    try {
      const saved = await actions.save(message.trim())
      if (!saved) return
      onOpenChange(false)
      onSaved()
    } catch (problem) {
      if (!isStaleBase(problem)) return setError(problem)
      onOpenChange(false)
      onStale()
    }
  }
  return (
    <form className="col gap" onSubmit={save}>
      <TextField
        label={t('saveMessage')}
        hint={t('saveMessageHint', { added: counts.added, removed: counts.removed })}
        value={message}
        maxLength={400}
        autoFocus
        onChange={setMessage}
      />
      <TrialWarning workshop={workshop} />
      <VoteCounts votes={workshop.draft?.votes ?? []} />
      <ErrorBanner error={error} />
      <div className="row endrow">
        <Button onClick={() => onOpenChange(false)}>{t('cancel')}</Button>
        <Button
          tone="ink"
          type="submit"
          busy={actions.doing === 'doing.saving' ? t('savingVersion', { version: nextVersion }) : null}
        >
          {t('saveAs', { version: nextVersion })}
        </Button>
      </div>
    </form>
  )
}

/** The warning that the text has not been tried in this chat. It can be saved nevertheless. */
function TrialWarning({ workshop }: { workshop: Workshop }) {
  const { t } = useTexts()
  const trial = useDraftTrial(workshop.draft).data
  const isApplied = workshop.applied !== null && isSameContent(workshop.applied, workshop.content)
  const warning = isApplied ? (trial && !trial.is_tried ? t('saveNotTried') : null) : t('saveNotApplied')
  return warning ? (
    <p className={blocks.banner} role="status">
      <TriangleAlert className="i" aria-hidden />
      <span className="grow">{warning}</span>
    </p>
  ) : null
}
