import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ApiError, meQuery, resetPassword } from '@/api'
import { useAsyncAction } from '@/lib/asyncAction'
import { textOfError } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import { TextField } from '@/ui/Field'

interface NewPasswordProps {
  resetKey: string
  /** The link was used meanwhile, or is too old. */
  onDead(): void
  /** The password is set, and this browser is signed in. */
  onDone(): void
}

/** A new password by the link of a mail. */
export function NewPassword({ resetKey, onDead, onDone }: NewPasswordProps) {
  const { t } = useTexts()
  const client = useQueryClient()
  const [password, setPassword] = useState('')
  const { busy, error, run } = useAsyncAction()
  const set = async () => {
    try {
      await resetPassword(resetKey, password)
    } catch (problem) {
      if (problem instanceof ApiError && problem.code === 'invalid_password_reset') return onDead()
      throw problem
    }
    client.clear()
    await client.fetchQuery({ ...meQuery, staleTime: 0 })
    onDone()
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void run(set)
  }
  return (
    <form className="col gap" onSubmit={submit}>
      <TextField
        label={t('newPassword')}
        type="password"
        value={password}
        autoComplete="new-password"
        required
        autoFocus
        minLength={10}
        hint={t('passwordHint')}
        error={error ? textOfError(error) : null}
        onChange={setPassword}
      />
      <Button tone="ink" size="lg" type="submit" busy={busy ? t('settingPassword') : null}>
        {t('setPassword')}
      </Button>
    </form>
  )
}
