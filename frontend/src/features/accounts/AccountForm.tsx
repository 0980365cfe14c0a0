import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useState } from 'react'
import { ApiError, meQuery, signIn, signUp } from '@/api'
import { useAsyncAction } from '@/lib/asyncAction'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { currentLanguage, useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { ErrorBanner } from '@/ui/ErrorBanner'
import { TextField } from '@/ui/Field'

interface AccountFormProps {
  mode: 'sign-in' | 'sign-up'
  /** The initial email: typed in the form before this one. */
  email: string
  /** Renders the link to the other form. */
  other(email: string): ReactNode
  /** Renders the link for a forgotten password. */
  forgot?(email: string): ReactNode
  /** The token of the invite link that the person followed. */
  invitation?: string | undefined
  onDone(): void
}

const getErrorField = (error: unknown) => (error instanceof ApiError ? error.field : null)

/** The form to sign in or to sign up. */
export function AccountForm({ mode, email, other, forgot, invitation, onDone }: AccountFormProps) {
  const { t, rich } = useTexts()
  const client = useQueryClient()
  const [form, setForm] = useState({ name: '', email, password: '' })
  const { busy, error, run } = useAsyncAction()
  const isNew = mode === 'sign-up'
  const set = (field: keyof typeof form) => (value: string) => setForm({ ...form, [field]: value })
  const getFieldError = (field: string) => (error && getErrorField(error) === field ? getErrorText(error) : null)
  const [isConfirmationSent, setConfirmationSent] = useState(false)
  const hasFormError = Boolean(error) && !['name', 'email', 'password'].includes(getErrorField(error) ?? '')

  const submit = (event: FormEvent) => {
    event.preventDefault()
    void run(async () => {
      try {
        await (isNew
          ? signUp({ ...form, language: currentLanguage(), ...(invitation ? { invitation } : {}) })
          : signIn({ email: form.email, password: form.password }))
      } catch (problem) {
        if (problem instanceof ApiError && problem.code === 'email_unconfirmed') return setConfirmationSent(true)
        throw problem
      }
      await client.fetchQuery({ ...meQuery, staleTime: 0 })
      onDone()
    })
  }
  if (isConfirmationSent) {
    return (
      <div className="col gap" role="status">
        <b>{t('checkMailTitle')}</b>
        <p>{rich('checkMailLead', { email: form.email })}</p>
      </div>
    )
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
          error={getFieldError('name')}
          onChange={set('name')}
        />
      ) : null}
      <TextField
        label={t('email')}
        type="email"
        value={form.email}
        autoComplete="email"
        required
        autoFocus={!isNew && !email}
        error={getFieldError('email')}
        onChange={set('email')}
      />
      <TextField
        label={t('password')}
        type="password"
        autoFocus={!isNew && Boolean(email)}
        value={form.password}
        autoComplete={isNew ? 'new-password' : 'current-password'}
        required
        minLength={isNew ? 10 : 1}
        hint={isNew ? t('passwordHint') : null}
        error={getFieldError('password')}
        onChange={set('password')}
      />
      {forgot ? <p className={cx(blocks.forgot, 'sm')}>{forgot(form.email)}</p> : null}
      <ErrorBanner error={hasFormError ? error : null} />
      <Button tone="ink" size="lg" type="submit" busy={busy ? t(isNew ? 'signingUp' : 'signingIn') : null}>
        {t(isNew ? 'signUp' : 'signIn')}
      </Button>
      <p className="muted sm">{other(form.email)}</p>
    </form>
  )
}
