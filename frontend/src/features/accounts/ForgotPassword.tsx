import { type FormEvent, type ReactNode, useState } from 'react'
import { ApiError, requestPasswordReset } from '@/api'
import { useAsyncAction } from '@/lib/asyncAction'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import { ErrorBanner } from '@/ui/ErrorBanner'
import { TextField } from '@/ui/Field'

/** The form that requests a password reset link. The text after it does not reveal whether an account exists. */
export function ForgotPassword({ email: initialEmail, back }: { email: string; back(email: string): ReactNode }) {
  const { t, rich } = useTexts()
  const [email, setEmail] = useState(initialEmail)
  const [response, setResponse] = useState<{ byMail: boolean } | null>(null)
  const { busy, error, run } = useAsyncAction()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void run(async () => setResponse(await requestPasswordReset(email)))
  }
  if (response) {
    return (
      <div className="col gap">
        <p className="sm" role="status">
          {rich(response.byMail ? 'linkSent' : 'linkLogged', { email })}
        </p>
        <p className="sm">{back(email)}</p>
      </div>
    )
  }
  const isEmailInvalid = error instanceof ApiError && error.field === 'email'
  return (
    <form className="col gap" onSubmit={submit}>
      <TextField
        label={t('email')}
        type="email"
        value={email}
        autoComplete="email"
        required
        autoFocus
        error={isEmailInvalid ? getErrorText(error) : null}
        onChange={setEmail}
      />
      <ErrorBanner error={isEmailInvalid ? null : error} />
      <Button tone="ink" size="lg" type="submit" busy={busy ? t('sendingLink') : null}>
        {t('sendLink')}
      </Button>
      <p className="sm">{back(email)}</p>
    </form>
  )
}
