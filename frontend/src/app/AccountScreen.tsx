import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { AccountForm, LanguageSelect } from '@/features/accounts'
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
