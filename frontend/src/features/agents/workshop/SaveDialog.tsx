import { type FormEvent, useState } from 'react'
import { type AgentRow, ApiError } from '@/api'
import { textOfError } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import { Dialog } from '@/ui/Dialog'
import { TextField } from '@/ui/Field'
import type { DraftActions } from './actions'
import { lineCounts } from './layers'
import type { Workshop } from './session'
import { Votes } from './Votes'

interface SaveDialogProps {
  agent: AgentRow
  workshop: Workshop
  actions: DraftActions
  open: boolean
  onOpenChange(open: boolean): void
  /** A newer version came between: shows what it changed. */
  onStale(): void
  onSaved(): void
}

export function SaveDialog(props: SaveDialogProps) {
  const { t } = useTexts()
  const next = `v${(props.agent.spec.number ?? 0) + 1}`
  return (
    <Dialog
      open={props.open}
      onOpenChange={props.onOpenChange}
      title={t('saveTitle', { name: props.agent.actor.name, version: next })}
      description={t('saveHint')}
    >
      <SaveForm {...props} next={next} />
    </Dialog>
  )
}

const isStale = (error: unknown) => error instanceof ApiError && error.code === 'stale_base'

function SaveForm({
  agent,
  workshop,
  actions,
  onOpenChange,
  onStale,
  onSaved,
  next,
}: SaveDialogProps & { next: string }) {
  const { t } = useTexts()
  const [message, setMessage] = useState('')
  const [error, setError] = useState<unknown>(null)
  const counts = lineCounts(agent.spec.prompt, workshop.content.prompt)
  const save = async (event: FormEvent) => {
    event.preventDefault()
    try {
      const saved = await actions.save(message.trim())
      if (!saved) return
      onOpenChange(false)
      onSaved()
    } catch (problem) {
      if (!isStale(problem)) return setError(problem)
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
      <Votes votes={workshop.draft?.votes ?? []} />
      {error ? (
        <div className="banner bad" role="alert">
          {textOfError(error)}
        </div>
      ) : null}
      <div className="row endrow">
        <Button onClick={() => onOpenChange(false)}>{t('cancel')}</Button>
        <Button
          tone="ink"
          type="submit"
          busy={actions.doing === 'doing.saving' ? t('savingVersion', { version: next }) : null}
        >
          {t('saveAs', { version: next })}
        </Button>
      </div>
    </form>
  )
}
