import { Link } from '@tanstack/react-router'
import { CircleAlert, Compass } from 'lucide-react'
import { cx } from '@/lib/cx'
import { textOfError } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { usePageTitle } from '@/lib/title'
import { Button } from '@/ui/Button'
import buttonStyles from '@/ui/Button.module.css'
import { EmptyState } from '@/ui/EmptyState'
import accountStyles from './Account.module.css'

/** There is no such page, or not for this person. */
export function NotFound() {
  const { t } = useTexts()
  usePageTitle(t('missing'))
  return (
    <main className={accountStyles.errorPage}>
      <EmptyState
        icon={Compass}
        title={t('missing')}
        actions={
          <Link to="/" className={cx(buttonStyles.btn, buttonStyles.ink)}>
            {t('toStart')}
          </Link>
        }
      >
        {t('missingHint')}
      </EmptyState>
    </main>
  )
}

/** Something could not be drawn or read: what happened, and the way on. */
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
        {textOfError(error)}
      </EmptyState>
    </main>
  )
}
