import { type FormEvent, useState } from 'react'
import type { SpecContent } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { Dialog } from '@/ui/Dialog'
import { Field } from '@/ui/Field'
import fieldStyles from '@/ui/Field.module.css'
import { FieldName } from '../components/FieldName'
import { listFieldChanges } from '../fields'
import { countUnifiedChanges } from './layerGutter'
import workshopStyles from './Workshop.module.css'

const MAX_NOTE_LENGTH = 400

interface SuggestDialogProps {
  title: string
  /** What happens to the text. */
  hint: string
  before: SpecContent
  after: SpecContent
  isBusy: boolean
  onSend(note: string): Promise<boolean>
  open: boolean
  onOpenChange(open: boolean): void
}

/** The dialog that suggests a draft or a lost text to the editors, with a note. */
export function SuggestDialog(props: SuggestDialogProps) {
  return (
    <Dialog open={props.open} onOpenChange={props.onOpenChange} title={props.title} description={props.hint}>
      <SuggestForm {...props} />
    </Dialog>
  )
}

function SuggestForm({ before, after, isBusy, onSend, onOpenChange }: SuggestDialogProps) {
  const { t } = useTexts()
  const [note, setNote] = useState('')
  const send = async (event: FormEvent) => {
    event.preventDefault()
    if (await onSend(note.trim())) onOpenChange(false)
  }
  return (
    <form className="col gap" onSubmit={send}>
      <ChangedParts before={before} after={after} />
      <Field label={t('suggestNote')} hint={t('suggestNoteHint')}>
        {attributes => (
          <textarea
            {...attributes}
            className={fieldStyles.input}
            maxLength={MAX_NOTE_LENGTH}
            rows={3}
            value={note}
            // biome-ignore lint/a11y/noAutofocus: the dialog was opened to write this
            autoFocus
            onChange={event => setNote(event.target.value)}
          />
        )}
      </Field>
      <div className="row endrow">
        <Button onClick={() => onOpenChange(false)}>{t('cancel')}</Button>
        <Button tone="violet" type="submit" busy={isBusy ? t('doing.suggesting') : null}>
          {t('suggest')}
        </Button>
      </div>
    </form>
  )
}

/** The parts of the spec that the suggestion changes. */
function ChangedParts({ before, after }: { before: SpecContent; after: SpecContent }) {
  const { t } = useTexts()
  const counts = countUnifiedChanges(before.prompt, after.prompt)
  const changes = listFieldChanges(before, after, t)
  return (
    <ul className={cx(blocks.chips, workshopStyles.touched)} aria-label={t('touched')}>
      {before.prompt === after.prompt ? null : (
        <li className={cx(blocks.badge, blocks.line)}>
          {t('prompt')} <span className="num">{`+${counts.added} −${counts.removed}`}</span>
        </li>
      )}
      {changes.map(({ path }) => (
        <li key={path} className={cx(blocks.badge, blocks.line)}>
          <FieldName path={path} />
        </li>
      ))}
    </ul>
  )
}
