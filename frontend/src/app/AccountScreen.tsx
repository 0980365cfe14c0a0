import { useQueryClient } from '@tanstack/react-query'
import { Link, useLoaderData, useLocation, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { ApiError, confirmEmail, keys, useSignUpMode } from '@/api'
import { AccountForm, ForgotPassword, LanguageSelect, NewPassword } from '@/features/accounts'
import { useAsyncAction } from '@/lib/asyncAction'
import { cx } from '@/lib/cx'
import { textOfError } from '@/lib/errors'
import { sentenceGap, useTexts } from '@/lib/language'
import { usePageTitle } from '@/lib/title'
import { Button } from '@/ui/Button'
import buttonStyles from '@/ui/Button.module.css'
import blocks from '@/ui/blocks.module.css'
import { Logo } from '@/ui/Logo'
import accountStyles from './Account.module.css'
import { pathAfterSignIn } from './session'

declare module '@tanstack/history' {
  interface HistoryState {
    /** What was typed as one's address, on the way from one of these forms to another: never a part of the address bar. */
    email?: string
  }
}

const useTyped = () => useLocation({ select: location => location.state.email ?? '' })

function useNext(from: '/sign-in' | '/sign-up') {
  const { next } = useSearch({ from })
  const navigate = useNavigate()
  return { search: next ? { next } : {}, onDone: () => void navigate({ href: pathAfterSignIn(next), replace: true }) }
}

export function SignInScreen() {
  const { t } = useTexts()
  const { search, onDone } = useNext('/sign-in')
  return (
    <Account title={t('welcomeBack')} lead={t('signInLead')}>
      <AccountForm
        mode="sign-in"
        onDone={onDone}
        email={useTyped()}
        forgot={email => (
          <Link className="link" to="/forgot-password" state={{ email }}>
            {t('forgot')}
          </Link>
        )}
        other={email => (
          <>
            {t('noAccount')}
            {sentenceGap()}
            <Link className="link" to="/sign-up" search={search} state={{ email }}>
              {t('signUp')}
            </Link>
          </>
        )}
      />
    </Account>
  )
}

export function SignUpScreen() {
  const { t } = useTexts()
  const typed = useTyped()
  const { search, onDone } = useNext('/sign-up')
  const mode = useSignUpMode().data?.mode ?? 'open'
  const invitation = /^\/join\/([^/?#]+)$/.exec(search.next ?? '')?.[1]
  const isClosed = mode === 'closed' || (mode === 'invited' && !invitation)
  if (isClosed) {
    return (
      <Account title={t('signUpTitle')} lead={t(mode === 'closed' ? 'signUpClosed' : 'signUpInvited')}>
        <Link
          data-slot="button"
          data-size="lg"
          className={cx(buttonStyles.btn, buttonStyles.ink, buttonStyles.lg)}
          to="/sign-in"
          search={search}
        >
          {t('haveAccountSignIn')}
        </Link>
      </Account>
    )
  }
  return (
    <Account title={t('signUpTitle')} lead={t('signUpLead')}>
      <AccountForm
        mode="sign-up"
        invitation={invitation}
        email={typed}
        onDone={onDone}
        other={email => (
          <>
            {t('haveAccount')}
            {sentenceGap()}
            <Link className="link" to="/sign-in" search={search} state={{ email }}>
              {t('signIn')}
            </Link>
          </>
        )}
      />
    </Account>
  )
}

export function ForgotPasswordScreen() {
  const { t } = useTexts()
  return (
    <Account title={t('forgotTitle')} lead={t('forgotLead')}>
      <ForgotPassword
        email={useTyped()}
        back={email => (
          <Link className="link" to="/sign-in" state={{ email }}>
            {t('backToSignIn')}
          </Link>
        )}
      />
    </Account>
  )
}

/** Where the link in a mail leads: nothing happens before the click, because mail programs open links by themselves. */
export function ConfirmEmailScreen() {
  const { t, rich } = useTexts()
  const { key } = useParams({ from: '/confirm-email/$key' })
  const [confirmed, setConfirmed] = useState<string | null>(null)
  const { busy, error, run } = useAsyncAction()
  const client = useQueryClient()
  const confirm = () =>
    void run(async () => {
      setConfirmed((await confirmEmail(key)).email)
      await client.invalidateQueries({ queryKey: keys.me })
    })
  if (confirmed !== null) {
    return (
      <Account title={t('emailConfirmedTitle')} lead={rich('emailConfirmedLead', { email: confirmed })}>
        <Link
          data-slot="button"
          data-size="lg"
          className={cx(buttonStyles.btn, buttonStyles.ink, buttonStyles.lg)}
          to="/"
        >
          {t('goOn')}
        </Link>
      </Account>
    )
  }
  if (error instanceof ApiError && error.code === 'link_dead') {
    return (
      <Account title={t('linkDeadTitle')} lead={t('emailLinkDeadLead')}>
        <Link
          data-slot="button"
          data-size="lg"
          className={cx(buttonStyles.btn, buttonStyles.ink, buttonStyles.lg)}
          to="/"
        >
          {t('goOn')}
        </Link>
      </Account>
    )
  }
  return (
    <Account title={t('confirmEmailTitle')} lead={t('confirmEmailLead')}>
      {error ? (
        <div className={cx(blocks.banner, blocks.bad)} role="alert">
          {textOfError(error)}
        </div>
      ) : null}
      <Button tone="ink" size="lg" busy={busy ? t('confirming') : null} onClick={confirm}>
        {t('confirmEmail')}
      </Button>
    </Account>
  )
}

export function NewPasswordScreen() {
  const { t } = useTexts()
  const { key } = useParams({ from: '/reset-password/$key' })
  const { isValid } = useLoaderData({ from: '/reset-password/$key' })
  const [isDead, setDead] = useState(!isValid)
  const navigate = useNavigate()
  if (isDead) {
    return (
      <Account title={t('linkDeadTitle')} lead={t('linkDeadLead')}>
        <Link
          data-slot="button"
          data-size="lg"
          className={cx(buttonStyles.btn, buttonStyles.ink, buttonStyles.lg)}
          to="/forgot-password"
        >
          {t('askAgain')}
        </Link>
      </Account>
    )
  }
  return (
    <Account title={t('newPasswordTitle')} lead={t('newPasswordLead')}>
      <NewPassword
        resetKey={key}
        onDead={() => setDead(true)}
        onDone={() => void navigate({ to: '/', replace: true })}
      />
    </Account>
  )
}

function Account({ title, lead, children }: { title: string; lead: ReactNode; children: ReactNode }) {
  usePageTitle(title)
  return (
    <div className={accountStyles.account}>
      <header>
        <Logo />
        <LanguageSelect />
      </header>
      <main>
        <h1 className={blocks.headline}>{title}</h1>
        <p className="muted">{lead}</p>
        {children}
      </main>
    </div>
  )
}
