import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { replaceConnection, useConnection } from '@/realtime'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { useDelayedFlag } from '@/ui/Skeleton'
import { Spinner } from '@/ui/Spinner'
import composerStyles from './Composer.module.css'

/** Shown when the connection is lost or silent for over a second, and at once when the browser is offline. */
export function ConnectionBanner({ floats = false }: { floats?: boolean }) {
  const { t } = useTexts()
  const connection = useConnection()
  const isAway = connection.state !== 'open'
  const isLate = useDelayedFlag(isAway, 1_500)
  const isOffline = isAway && !navigator.onLine
  if (!(isLate || isOffline)) return null
  return (
    <div className={cx(composerStyles.connection, floats && composerStyles.floats)}>
      <div className={blocks.banner} role="status">
        <Spinner />
        <span className="grow">{t(isOffline ? 'offline' : 'connectingAgain')}</span>
        <Button size="xs" onClick={replaceConnection}>
          {t('tryNow')}
        </Button>
      </div>
    </div>
  )
}
