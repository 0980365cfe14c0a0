import { TriangleAlert } from 'lucide-react'
import { type FormEvent, type ReactNode, useState } from 'react'
import { type AgentRow, ApiError, type UnusedSuggestionRow, useDraftSuggestions, useDraftTrial } from '@/api'
import { sentenceGap, useTexts } from '@/lib/language'
import { formatList } from '@/lib/names'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { Dialog } from '@/ui/Dialog'
import { ErrorBanner } from '@/ui/ErrorBanner'
import { TextField } from '@/ui/Field'
import { isSameContent } from '../content'
import type { DraftActions } from './actions'
import { useUnsettledConflicts } from './Conflicts'
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

const hasCode = (error: unknown, code: string) => error instanceof ApiError && error.code === code

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
  const counts = countUnifiedChanges(agent.spec.content.prompt, workshop.content.prompt)
  const suggestions = useDraftSuggestions(workshop.draft)
  const unused = suggestions.data?.unused ?? []
  const save = async (event: FormEvent) => {
    event.preventDefault()
    try {
      const saved = await actions.save(
        message.trim(),
        unused.map(suggestion => suggestion.id),
      )
      if (!saved) return
      onOpenChange(false)
      onSaved()
    } catch (problem) {
      // The last edits were stored just before, and removed a suggestion from the text.
      if (hasCode(problem, 'suggestions_unused')) void suggestions.refetch()
      if (!hasCode(problem, 'stale_base')) return setError(problem)
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
      <UnusedWarning merged={suggestions.data?.merged ?? 0} unused={unused} />
      <UnsettledWarning workshop={workshop} />
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

interface UnusedWarningProps {
  merged: number
  unused: readonly UnusedSuggestionRow[]
}

/** Names the suggestions that were merged into the draft and would be lost by saving it. */
function UnusedWarning({ merged, unused }: UnusedWarningProps) {
  const { t } = useTexts()
  if (unused.length === 0) return null
  const names = unused.map(({ author_name: name, title }) =>
    title ? t('unusedNamed', { name, title }) : t('unusedOf', { name }),
  )
  return (
    <Warning>
      {t('unusedInDraft', { count: unused.length, merged })}
      {sentenceGap()}
      {formatList(names)}
    </Warning>
  )
}

/** Says how many conflicts nobody has decided. They are saved as they are in the text. */
function UnsettledWarning({ workshop }: { workshop: Workshop }) {
  const { t } = useTexts()
  const count = useUnsettledConflicts(workshop)
  return count > 0 ? <Warning>{t('unsettledInDraft', { count })}</Warning> : null
}

const Warning = ({ children }: { children: ReactNode }) => (
  <p className={blocks.banner} role="status">
    <TriangleAlert className="i" aria-hidden />
    <span className="grow">{children}</span>
  </p>
)

/** The warning that the text has not been tried in this chat. It can be saved nevertheless. */
function TrialWarning({ workshop }: { workshop: Workshop }) {
  const { t } = useTexts()
  const trial = useDraftTrial(workshop.draft).data
  const isApplied = workshop.applied !== null && isSameContent(workshop.applied, workshop.content)
  const warning = isApplied ? (trial && !trial.is_tried ? t('saveNotTried') : null) : t('saveNotApplied')
  return warning ? <Warning>{warning}</Warning> : null
}
