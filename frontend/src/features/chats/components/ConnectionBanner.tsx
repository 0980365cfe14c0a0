import { useTexts } from '@/lib/language'
import { tryNow, useConnection } from '@/realtime'
import { Busy } from '@/ui/Busy'
import { Button } from '@/ui/Button'
import { useLate } from '@/ui/Skeleton'

/** A short break heals unseen; after a second it is said. */
export function ConnectionBanner() {
  const { t } = useTexts()
  const connection = useConnection()
  const isAway = connection.state !== 'open'
  const isLate = useLate(isAway, 1_500)
  if (!isLate) return null
  return (
    <div className="connection">
      <div className="banner" role="status">
        <Busy />
        <span className="grow">{t('connectingAgain')}</span>
        {connection.state === 'waiting' ? (
          <Button size="xs" onClick={tryNow}>
            {t('tryNow')}
          </Button>
        ) : null}
      </div>
    </div>
  )
}
