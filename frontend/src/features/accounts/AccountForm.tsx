import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useState } from 'react'
import { ApiError, meQuery, signIn, signUp } from '@/api'
import { useAsyncAction } from '@/lib/asyncAction'
import { cx } from '@/lib/cx'
import { textOfError } from '@/lib/errors'
import { currentLanguage, useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { TextField } from '@/ui/Field'

interface AccountFormProps {
  mode: 'sign-in' | 'sign-up'
  /** The address that was typed in the form before this one. */
  email: string
  /** Leads to the other form. */
  other(email: string): ReactNode
  /** Leads whoever has forgotten the password on. */
  forgot?(email: string): ReactNode
  /** The token of the invite link that led here. */
  invitation?: string | undefined
  onDone(): void
}

const fieldOf = (error: unknown) => (error instanceof ApiError ? error.field : null)

/** Signing in, or signing up: one form. */
export function AccountForm({ mode, email, other, forgot, invitation, onDone }: AccountFormProps) {
  const { t, rich } = useTexts()
  const client = useQueryClient()
  const [form, setForm] = useState({ name: '', email, password: '' })
  const { busy, error, run } = useAsyncAction()
  const isNew = mode === 'sign-up'
  const set = (field: keyof typeof form) => (value: string) => setForm({ ...form, [field]: value })
  const errorAt = (field: string) => (error && fieldOf(error) === field ? textOfError(error) : null)
  const [isMailed, setMailed] = useState(false)
  const isElsewhere = Boolean(error) && !['name', 'email', 'password'].includes(fieldOf(error) ?? '')

  const submit = (event: FormEvent) => {
    event.preventDefault()
    void run(async () => {
      try {
        await (isNew
          ? signUp({ ...form, language: currentLanguage(), ...(invitation ? { invitation } : {}) })
          : signIn({ email: form.email, password: form.password }))
      } catch (problem) {
        if (problem instanceof ApiError && problem.code === 'email_unconfirmed') return setMailed(true)
        throw problem
      }
      await client.fetchQuery({ ...meQuery, staleTime: 0 })
      onDone()
    })
  }
  if (isMailed) {
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
        autoFocus={!isNew && !email}
        error={errorAt('email')}
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
        error={errorAt('password')}
        onChange={set('password')}
      />
      {forgot ? <p className={cx(blocks.forgot, 'sm')}>{forgot(form.email)}</p> : null}
      {isElsewhere ? (
        <div className={cx(blocks.banner, blocks.bad)} role="alert">
          {textOfError(error)}
        </div>
      ) : null}
      <Button tone="ink" size="lg" type="submit" busy={busy ? t(isNew ? 'signingUp' : 'signingIn') : null}>
        {t(isNew ? 'signUp' : 'signIn')}
      </Button>
      <p className="muted sm">{other(form.email)}</p>
    </form>
  )
}
