import { type FormEvent, type ReactNode, useState } from 'react'
import { ApiError, requestPasswordReset } from '@/api'
import { useAsyncAction } from '@/lib/asyncAction'
import { cx } from '@/lib/cx'
import { textOfError } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { TextField } from '@/ui/Field'

/** Asks for a link to set a new password. What it says does not tell who has an account. */
export function ForgotPassword({ email: typed, back }: { email: string; back(email: string): ReactNode }) {
  const { t, rich } = useTexts()
  const [email, setEmail] = useState(typed)
  const [asked, setAsked] = useState<{ byMail: boolean } | null>(null)
  const { busy, error, run } = useAsyncAction()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void run(async () => setAsked(await requestPasswordReset(email)))
  }
  if (asked) {
    return (
      <div className="col gap">
        <p className="sm" role="status">
          {rich(asked.byMail ? 'linkSent' : 'linkLogged', { email })}
        </p>
        <p className="sm">{back(email)}</p>
      </div>
    )
  }
  const isWrong = error instanceof ApiError && error.field === 'email'
  return (
    <form className="col gap" onSubmit={submit}>
      <TextField
        label={t('email')}
        type="email"
        value={email}
        autoComplete="email"
        required
        autoFocus
        error={isWrong ? textOfError(error) : null}
        onChange={setEmail}
      />
      {error && !isWrong ? (
        <div className={cx(blocks.banner, blocks.bad)} role="alert">
          {textOfError(error)}
        </div>
      ) : null}
      <Button tone="ink" size="lg" type="submit" busy={busy ? t('sendingLink') : null}>
        {t('sendLink')}
      </Button>
      <p className="sm">{back(email)}</p>
    </form>
  )
}
