import { Link } from '@tanstack/react-router'
import { CircleAlert, Compass } from 'lucide-react'
import { textOfError } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import { Empty } from '@/ui/Empty'

/** There is no such page, or not for this person. */
export function Missing() {
  const { t } = useTexts()
  return (
    <main className="lost">
      <Empty
        icon={Compass}
        title={t('missing')}
        actions={
          <Link to="/" className="btn ink">
            {t('toStart')}
          </Link>
        }
      >
        {t('missingHint')}
      </Empty>
    </main>
  )
}

/** Something could not be drawn or read: what happened, and the way on. */
export function Broken({ error }: { error: unknown }) {
  const { t } = useTexts()
  return (
    <main className="lost">
      <Empty
        icon={CircleAlert}
        title={t('broken')}
        actions={
          <Button tone="ink" onClick={() => location.reload()}>
            {t('reload')}
          </Button>
        }
      >
        {textOfError(error)}
      </Empty>
    </main>
  )
}
