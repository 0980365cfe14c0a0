import { type FormEvent, useState } from 'react'
import { ApiError, changePassword, type Me, useEndSessions } from '@/api'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { TextField } from '@/ui/Field'
import { showToast } from '@/ui/toast'
import { Viewings } from './Viewings'

/** The settings for the password and the sessions of this person, and when operators have viewed as this person. */
export function Security({ me, onSignOut }: { me: Me; onSignOut(): void }) {
  const { t } = useTexts()
  const endSessions = useEndSessions()
  const handleEnd = () =>
    endSessions.mutate(undefined, {
      onSuccess: () => showToast(t('sessionsEnded')),
      onError: error => showToast(getErrorText(error)),
    })
  return (
    <>
      <section className={blocks.sec}>
        <h2 className={blocks.h}>{t('changePassword')}</h2>
        <div className={blocks.b}>
          <ChangePassword me={me} />
        </div>
      </section>
      <section className={blocks.sec}>
        <h2 className={blocks.h}>{t('sessions')}</h2>
        <div className={cx(blocks.b, 'col gap')}>
          <p className="hint">{t('sessionsHint')}</p>
          <div className="row wrap">
            <Button tone="bad" busy={endSessions.isPending ? t('endingSessions') : null} onClick={handleEnd}>
              {t('endSessions')}
            </Button>
            <Button onClick={onSignOut}>{t('signOutHere')}</Button>
          </div>
        </div>
      </section>
      <Viewings />
    </>
  )
}

const EMPTY = { current: '', next: '' }

function ChangePassword({ me }: { me: Me }) {
  const { t } = useTexts()
  const [form, setForm] = useState(EMPTY)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const field = error instanceof ApiError ? error.field : null
  const isCurrentWrong = field === 'current_password'
  const change = async (event: FormEvent) => {
    event.preventDefault()
    if (busy) return
    setBusy(true)
    setError(null)
    try {
      await changePassword(form.current, form.next)
      setForm(EMPTY)
      showToast(t('passwordChanged'))
    } catch (problem) {
      setError(problem)
    }
    setBusy(false)
  }
  return (
    <form className="col gap" onSubmit={event => void change(event)}>
      {/* Password managers read the account name from this field. */}
      <input className="sr" type="email" autoComplete="username" value={me.email} readOnly tabIndex={-1} aria-hidden />
      <TextField
        label={t('currentPassword')}
        type="password"
        value={form.current}
        autoComplete="current-password"
        required
        error={isCurrentWrong ? getErrorText(error) : null}
        onChange={current => setForm({ ...form, current })}
      />
      <TextField
        label={t('newPassword')}
        type="password"
        value={form.next}
        autoComplete="new-password"
        required
        minLength={10}
        hint={t('passwordHint')}
        error={error && !isCurrentWrong ? getErrorText(error) : null}
        onChange={next => setForm({ ...form, next })}
      />
      <p className="hint">{t('changePasswordHint')}</p>
      <div className="row">
        <Button type="submit" blocked={!form.current || !form.next} busy={busy ? t('changingPassword') : null}>
          {t('changePassword')}
        </Button>
      </div>
    </form>
  )
}
