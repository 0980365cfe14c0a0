import { CircleAlert, Compass } from 'lucide-react'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { usePageTitle } from '@/lib/title'
import { Button } from '@/ui/Button'
import { EmptyState } from '@/ui/EmptyState'
import accountStyles from './Account.module.css'
import { ButtonLink } from './ButtonLink'

/** The page for a URL that does not exist or is not open to this person. */
export function NotFound() {
  const { t } = useTexts()
  usePageTitle(t('missing'))
  return (
    <main className={accountStyles.errorPage}>
      <EmptyState
        icon={Compass}
        title={t('missing')}
        actions={
          <ButtonLink tone="ink" to="/">
            {t('toStart')}
          </ButtonLink>
        }
      >
        {t('missingHint')}
      </EmptyState>
    </main>
  )
}

/** The page shown after an error while loading or rendering. */
export function ErrorPage({ error }: { error: unknown }) {
  const { t } = useTexts()
  usePageTitle(t('broken'))
  return (
    <main className={accountStyles.errorPage}>
      <EmptyState
        icon={CircleAlert}
        title={t('broken')}
        actions={
          <Button tone="ink" onClick={() => location.reload()}>
            {t('reload')}
          </Button>
        }
      >
        {getErrorText(error)}
      </EmptyState>
    </main>
  )
}
