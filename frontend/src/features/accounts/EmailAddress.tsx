import { type FormEvent, useState } from 'react'
import { ApiError, type EmailChange, type Me, useCancelEmailChange, useStartEmailChange } from '@/api'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import { Dialog } from '@/ui/Dialog'
import { TextField } from '@/ui/Field'
import fieldStyles from '@/ui/Field.module.css'
import { showToast } from '@/ui/toast'

/** The email of this person, with a dialog to change it. */
export function EmailAddress({ me }: { me: Me }) {
  const { t, rich } = useTexts()
  const [isOpen, setOpen] = useState(false)
  const [started, setStarted] = useState<EmailChange | null>(null)
  const cancel = useCancelEmailChange()
  return (
    <div className={fieldStyles.field}>
      <TextField label={t('email')} value={me.email} readOnly onChange={() => undefined} />
      {me.new_email ? (
        <p className="sm" role="status">
          {rich(started && !started.by_mail ? 'emailPendingLogged' : 'emailPending', { email: me.new_email })}
        </p>
      ) : null}
      <div className="row wrap">
        <Button onClick={() => setOpen(true)}>{t('changeEmail')}</Button>
        {me.new_email ? (
          <Button onClick={() => cancel.mutate(undefined, { onError: error => showToast(getErrorText(error)) })}>
            {t('cancelEmailChange')}
          </Button>
        ) : null}
      </div>
      <Dialog open={isOpen} onOpenChange={setOpen} title={t('changeEmailTitle')} description={t('changeEmailLead')}>
        <ChangeEmailForm
          onStarted={change => {
            setStarted(change)
            setOpen(false)
          }}
        />
      </Dialog>
    </div>
  )
}

function ChangeEmailForm({ onStarted }: { onStarted(change: EmailChange): void }) {
  const { t } = useTexts()
  const [form, setForm] = useState({ email: '', password: '' })
  const start = useStartEmailChange()
  const isPasswordWrong = start.error instanceof ApiError && start.error.code === 'wrong_password'
  const submit = (event: FormEvent) => {
    event.preventDefault()
    start.mutate(form, { onSuccess: onStarted })
  }
  return (
    <form className="col gap" onSubmit={submit}>
      <TextField
        label={t('newEmail')}
        type="email"
        value={form.email}
        autoComplete="email"
        required
        autoFocus
        error={start.error && !isPasswordWrong ? getErrorText(start.error) : null}
        onChange={email => setForm({ ...form, email })}
      />
      <TextField
        label={t('currentPassword')}
        type="password"
        value={form.password}
        autoComplete="current-password"
        required
        error={isPasswordWrong ? getErrorText(start.error) : null}
        onChange={password => setForm({ ...form, password })}
      />
      <div className="row endrow">
        <Button
          tone="ink"
          type="submit"
          blocked={!form.email.trim() || !form.password}
          busy={start.isPending ? t('sendingLink') : null}
        >
          {t('sendConfirmation')}
        </Button>
      </div>
    </form>
  )
}
