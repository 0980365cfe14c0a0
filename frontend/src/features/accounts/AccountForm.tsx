import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useState } from 'react'
import { ApiError, keys, signIn, signUp } from '@/api'
import { useAttempt } from '@/lib/attempt'
import { textOfError } from '@/lib/errors'
import { currentLanguage, useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import { TextField } from '@/ui/Field'

interface AccountFormProps {
  mode: 'sign-in' | 'sign-up'
  /** Leads to the other form. */
  other: ReactNode
  /** Leads whoever has forgotten the password on. */
  forgot?: ReactNode
  onDone(): void
}

const fieldOf = (error: unknown) => (error instanceof ApiError ? error.field : null)

/** Signing in, or signing up: one form. */
export function AccountForm({ mode, other, forgot, onDone }: AccountFormProps) {
  const { t } = useTexts()
  const client = useQueryClient()
  const [form, setForm] = useState({ name: '', email: '', password: '' })
  const { busy, error, attempt } = useAttempt()
  const isNew = mode === 'sign-up'
  const set = (field: keyof typeof form) => (value: string) => setForm({ ...form, [field]: value })
  const errorAt = (field: string) => (error && fieldOf(error) === field ? textOfError(error) : null)
  const isElsewhere = Boolean(error) && !['name', 'email', 'password'].includes(fieldOf(error) ?? '')

  const submit = (event: FormEvent) => {
    event.preventDefault()
    void attempt(async () => {
      await (isNew
        ? signUp({ ...form, language: currentLanguage() })
        : signIn({ email: form.email, password: form.password }))
      await client.invalidateQueries({ queryKey: keys.me })
      onDone()
    })
  }
  return (
    <form className="col gap" onSubmit={submit}>
      {isNew ? (
        <TextField
          label={t('yourName')}
          value={form.name}
          autoComplete="name"
          required
          maxLength={80}
          autoFocus
          error={errorAt('name')}
          onChange={set('name')}
        />
      ) : null}
      <TextField
        label={t('email')}
        type="email"
        value={form.email}
        autoComplete="email"
        required
        autoFocus={!isNew}
        error={errorAt('email')}
        onChange={set('email')}
      />
      <TextField
        label={t('password')}
        type="password"
        value={form.password}
        autoComplete={isNew ? 'new-password' : 'current-password'}
        required
        minLength={isNew ? 10 : 1}
        hint={isNew ? t('passwordHint') : null}
        error={errorAt('password')}
        onChange={set('password')}
      />
      {forgot ? <p className="sm forgot">{forgot}</p> : null}
      {isElsewhere ? (
        <div className="banner bad" role="alert">
          {textOfError(error)}
        </div>
      ) : null}
      <Button tone="ink" size="lg" type="submit" busy={busy ? t(isNew ? 'signingUp' : 'signingIn') : null}>
        {t(isNew ? 'signUp' : 'signIn')}
      </Button>
      <p className="muted sm">{other}</p>
    </form>
  )
}
