import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ApiError, meQuery, resetPassword } from '@/api'
import { useAsyncAction } from '@/lib/asyncAction'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import { TextField } from '@/ui/Field'

interface NewPasswordProps {
  resetKey: string
  /** Called when the link was used already or has expired. */
  onLinkInvalid(): void
  /** Called when the password is set and this browser is signed in. */
  onDone(): void
}

/** The form that sets a new password with the key of a reset link. */
export function NewPassword({ resetKey, onLinkInvalid, onDone }: NewPasswordProps) {
  const { t } = useTexts()
  const client = useQueryClient()
  const [password, setPassword] = useState('')
  const { busy, error, run } = useAsyncAction()
  const setNewPassword = async () => {
    try {
      await resetPassword(resetKey, password)
    } catch (problem) {
      if (problem instanceof ApiError && problem.code === 'invalid_password_reset') return onLinkInvalid()
      throw problem
    }
    client.clear()
    // Not `fetchQuery`: the password is set, also if this fails.
    await client.prefetchQuery({ ...meQuery, staleTime: 0 })
    onDone()
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void run(setNewPassword)
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
        error={error ? getErrorText(error) : null}
        onChange={setPassword}
      />
      <Button tone="ink" size="lg" type="submit" busy={busy ? t('settingPassword') : null}>
        {t('setPassword')}
      </Button>
    </form>
  )
}
