import { type FormEvent, useState } from 'react'
import { type ListedSuggestionRow, useRejectSuggestions, useWithdrawSuggestion } from '@/api'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import { ConfirmDialog } from '@/ui/ConfirmDialog'
import { Dialog } from '@/ui/Dialog'
import { Field } from '@/ui/Field'
import fieldStyles from '@/ui/Field.module.css'
import { showToast } from '@/ui/toast'
import { getTitle } from '../wording'

interface RejectProps {
  workspaceId: string
  rows: readonly ListedSuggestionRow[]
  onClose(): void
}

/** The dialog that rejects suggestions with a reason, which their authors can read. */
export function RejectDialog({ workspaceId, rows, onClose }: RejectProps) {
  const { t } = useTexts()
  const [reason, setReason] = useState('')
  const reject = useRejectSuggestions(workspaceId)
  const count = rows.length
  const only = count === 1 ? rows[0] : undefined
  const title = only ? t('rejectNamed', { title: getTitle(only, t) }) : t('rejectTitle', { count })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    reject.mutate(
      { ids: rows.map(row => row.id), reason: reason.trim() },
      {
        onSuccess: () => {
          showToast(t('rejectedN', { count }))
          onClose()
        },
      },
    )
  }
  return (
    <Dialog open onOpenChange={onClose} title={title} description={t('rejectHint')}>
      <form className="col gap" onSubmit={submit}>
        <Field label={t('reason')} hint={t('reasonHint')} error={reject.error ? getErrorText(reject.error) : null}>
          {attributes => (
            <textarea
              {...attributes}
              className={fieldStyles.input}
              rows={3}
              maxLength={400}
              value={reason}
              onChange={event => setReason(event.target.value)}
            />
          )}
        </Field>
        <div className="row endrow">
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button tone="bad" type="submit" busy={reject.isPending ? t('rejecting') : null}>
            {t('reject')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

interface WithdrawProps {
  workspaceId: string
  row: ListedSuggestionRow
  onClose(): void
}

/** The dialog that confirms withdrawing a suggestion, which cannot be undone. */
export function WithdrawDialog({ workspaceId, row, onClose }: WithdrawProps) {
  const { t } = useTexts()
  const withdraw = useWithdrawSuggestion(workspaceId)
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={t('withdrawNamed', { title: getTitle(row, t) })}
      description={t('withdrawHint')}
      action={t('withdraw')}
      busy={withdraw.isPending ? t('withdrawing') : null}
      onConfirm={() => withdraw.mutate(row.id, { onSuccess: onClose })}
    >
      {withdraw.error ? (
        <p className={fieldStyles.err} role="alert">
          {getErrorText(withdraw.error)}
        </p>
      ) : null}
    </ConfirmDialog>
  )
}
