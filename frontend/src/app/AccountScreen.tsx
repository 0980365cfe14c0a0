import { useQueryClient } from '@tanstack/react-query'
import { Link, useLoaderData, useLocation, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { ApiError, confirmEmail, keys, useSignUpMode } from '@/api'
import { AccountForm, ForgotPassword, NewPassword } from '@/features/accounts'
import { useAsyncAction } from '@/lib/asyncAction'
import { sentenceGap, useTexts } from '@/lib/language'
import { usePageTitle } from '@/lib/title'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { ErrorBanner } from '@/ui/ErrorBanner'
import { AccountLayout } from './AccountLayout'
import { ButtonLink } from './ButtonLink'
import { pathAfterSignIn } from './session'

declare module '@tanstack/history' {
  interface HistoryState {
    /** The email typed so far, passed from one of these forms to the next outside the URL. */
    email?: string
  }
}

const useTypedEmail = () => useLocation({ select: location => location.state.email ?? '' })

function useNextPage(from: '/sign-in' | '/sign-up') {
  const { next } = useSearch({ from })
  const navigate = useNavigate()
  return { search: next ? { next } : {}, onDone: () => void navigate({ href: pathAfterSignIn(next), replace: true }) }
}

export function SignInScreen() {
  const { t } = useTexts()
  const { search, onDone } = useNextPage('/sign-in')
  return (
    <AccountPage title={t('welcomeBack')} lead={t('signInLead')}>
      <AccountForm
        mode="sign-in"
        onDone={onDone}
        email={useTypedEmail()}
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
    </AccountPage>
  )
}

export function SignUpScreen() {
  const { t } = useTexts()
  const typedEmail = useTypedEmail()
  const { search, onDone } = useNextPage('/sign-up')
  const mode = useSignUpMode().data?.mode ?? 'open'
  const invitation = /^\/join\/([^/?#]+)$/.exec(search.next ?? '')?.[1]
  const isClosed = mode === 'closed' || (mode === 'invited' && !invitation)
  if (isClosed) {
    return (
      <AccountPage title={t('signUpTitle')} lead={t(mode === 'closed' ? 'signUpClosed' : 'signUpInvited')}>
        <ButtonLink tone="ink" to="/sign-in" search={search}>
          {t('haveAccountSignIn')}
        </ButtonLink>
      </AccountPage>
    )
  }
  return (
    <AccountPage title={t('signUpTitle')} lead={t('signUpLead')}>
      <AccountForm
        mode="sign-up"
        invitation={invitation}
        email={typedEmail}
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
    </AccountPage>
  )
}

export function ForgotPasswordScreen() {
  const { t } = useTexts()
  return (
    <AccountPage title={t('forgotTitle')} lead={t('forgotLead')}>
      <ForgotPassword
        email={useTypedEmail()}
        back={email => (
          <Link className="link" to="/sign-in" state={{ email }}>
            {t('backToSignIn')}
          </Link>
        )}
      />
    </AccountPage>
  )
}

/** The page behind the link in a confirmation mail. It waits for a click, because mail programs open links by themselves. */
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
      <AccountPage title={t('emailConfirmedTitle')} lead={rich('emailConfirmedLead', { email: confirmed })}>
        <ButtonLink tone="ink" to="/">
          {t('goOn')}
        </ButtonLink>
      </AccountPage>
    )
  }
  if (error instanceof ApiError && error.code === 'link_dead') {
    return (
      <AccountPage title={t('linkInvalidTitle')} lead={t('emailLinkInvalidLead')}>
        <ButtonLink tone="ink" to="/">
          {t('goOn')}
        </ButtonLink>
      </AccountPage>
    )
  }
  return (
    <AccountPage title={t('confirmEmailTitle')} lead={t('confirmEmailLead')}>
      <ErrorBanner error={error} />
      <Button tone="ink" size="lg" busy={busy ? t('confirming') : null} onClick={confirm}>
        {t('confirmEmail')}
      </Button>
    </AccountPage>
  )
}

export function NewPasswordScreen() {
  const { t } = useTexts()
  const { key } = useParams({ from: '/reset-password/$key' })
  const { isValid } = useLoaderData({ from: '/reset-password/$key' })
  const [isLinkInvalid, setLinkInvalid] = useState(!isValid)
  const navigate = useNavigate()
  if (isLinkInvalid) {
    return (
      <AccountPage title={t('linkInvalidTitle')} lead={t('linkInvalidLead')}>
        <ButtonLink tone="ink" to="/forgot-password">
          {t('askAgain')}
        </ButtonLink>
      </AccountPage>
    )
  }
  return (
    <AccountPage title={t('newPasswordTitle')} lead={t('newPasswordLead')}>
      <NewPassword
        resetKey={key}
        onLinkInvalid={() => setLinkInvalid(true)}
        onDone={() => void navigate({ to: '/', replace: true })}
      />
    </AccountPage>
  )
}

function AccountPage({ title, lead, children }: { title: string; lead: ReactNode; children: ReactNode }) {
  usePageTitle(title)
  return (
    <AccountLayout>
      <h1 className={blocks.headline}>{title}</h1>
      <p className="muted">{lead}</p>
      {children}
    </AccountLayout>
  )
}
