import { CircleCheck } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { type ActorRow, type ReportReason, useReportPublicAgent } from '@/api'
import { useTexts } from '@/lib/language'
import { listKeys } from '@/lib/listKeys'
import { Button } from '@/ui/Button'
import { Dialog } from '@/ui/Dialog'
import { EmptyState } from '@/ui/EmptyState'
import { ErrorBanner } from '@/ui/ErrorBanner'
import { Field } from '@/ui/Field'
import fieldStyles from '@/ui/Field.module.css'
import styles from './Directory.module.css'

const reasons = listKeys<ReportReason>({ misleading: true, data: true, harmful: true, brand: true, other: true })
const MAX_LENGTH = 2_000

/** The form by which a person reports a public agent to the operators. */
export function ReportDialog({ actor, onClose }: { actor: ActorRow; onClose(): void }) {
  const { t } = useTexts()
  const [reason, setReason] = useState<ReportReason | null>(null)
  const [text, setText] = useState('')
  const report = useReportPublicAgent(actor.id)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (reason) report.mutate({ reason, text: text.trim() })
  }
  return (
    <Dialog open onOpenChange={onClose} title={t('report.title', { name: actor.name })}>
      {report.isSuccess ? (
        <>
          <EmptyState icon={CircleCheck} title={t('report.done')}>
            {t('report.doneHint')}
          </EmptyState>
          <div className="row endrow">
            <Button tone="ink" onClick={onClose}>
              {t('close')}
            </Button>
          </div>
        </>
      ) : (
        <form className="col gap" onSubmit={submit}>
          <fieldset className={styles.reasons}>
            <legend className="sr">{t('report.why')}</legend>
            {reasons.map(value => (
              <label key={value} className="row sm">
                <input
                  type="radio"
                  name="reason"
                  value={value}
                  checked={reason === value}
                  onChange={() => setReason(value)}
                />
                {t(`report.reason.${value}`)}
              </label>
            ))}
          </fieldset>
          <Field label={t('report.what')} hint={t('report.hint')}>
            {attributes => (
              <textarea
                {...attributes}
                className={fieldStyles.input}
                rows={4}
                value={text}
                maxLength={MAX_LENGTH}
                onChange={event => setText(event.target.value)}
              />
            )}
          </Field>
          <ErrorBanner error={report.error} />
          <div className="row endrow">
            <Button onClick={onClose}>{t('cancel')}</Button>
            <Button
              tone="ink"
              type="submit"
              blocked={reason ? false : t('report.chooseReason')}
              busy={report.isPending ? t('report.sending') : null}
            >
              {t('report.send')}
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  )
}
