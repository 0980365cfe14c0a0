import { Link, useLoaderData, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { AccountForm, ForgotPassword, LanguageSelect, NewPassword } from '@/features/accounts'
import { useTexts } from '@/lib/language'
import { Logo } from '@/ui/Logo'

function useNext(from: '/sign-in' | '/sign-up') {
  const { next } = useSearch({ from })
  const navigate = useNavigate()
  return { search: next ? { next } : {}, onDone: () => void navigate({ href: next ?? '/', replace: true }) }
}

export function SignInScreen() {
  const { t } = useTexts()
  const { search, onDone } = useNext('/sign-in')
  return (
    <Account title={t('welcomeBack')} lead={t('signInLead')}>
      <AccountForm
        mode="sign-in"
        onDone={onDone}
        forgot={
          <Link className="link" to="/forgot-password">
            {t('forgot')}
          </Link>
        }
        other={
          <>
            {t('noAccount')}{' '}
            <Link className="link" to="/sign-up" search={search}>
              {t('signUp')}
            </Link>
          </>
        }
      />
    </Account>
  )
}

export function SignUpScreen() {
  const { t } = useTexts()
  const { search, onDone } = useNext('/sign-up')
  return (
    <Account title={t('signUpTitle')} lead={t('signUpLead')}>
      <AccountForm
        mode="sign-up"
        onDone={onDone}
        other={
          <>
            {t('haveAccount')}{' '}
            <Link className="link" to="/sign-in" search={search}>
              {t('signIn')}
            </Link>
          </>
        }
      />
    </Account>
  )
}

export function ForgotPasswordScreen() {
  const { t } = useTexts()
  return (
    <Account title={t('forgotTitle')} lead={t('forgotLead')}>
      <ForgotPassword
        back={
          <Link className="link" to="/sign-in">
            {t('backToSignIn')}
          </Link>
        }
      />
    </Account>
  )
}

export function NewPasswordScreen() {
  const { t } = useTexts()
  const { key } = useParams({ from: '/reset-password/$key' })
  const { isGood } = useLoaderData({ from: '/reset-password/$key' })
  const [isDead, setDead] = useState(!isGood)
  const navigate = useNavigate()
  if (isDead) {
    return (
      <Account title={t('linkDeadTitle')} lead={t('linkDeadLead')}>
        <Link className="btn ink lg" to="/forgot-password">
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

function Account({ title, lead, children }: { title: string; lead: string; children: React.ReactNode }) {
  return (
    <div className="account">
      <header>
        <Logo />
        <LanguageSelect />
      </header>
      <main>
        <h1 className="headline">{title}</h1>
        <p className="muted">{lead}</p>
        {children}
      </main>
    </div>
  )
}
