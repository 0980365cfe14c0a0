import { useQueryClient } from '@tanstack/react-query'
import { Eye } from 'lucide-react'
import { useState } from 'react'
import { endViewing, type Me, type ViewingRow } from '@/api'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { formatTime } from '@/lib/time'
import { showToast } from '@/ui/toast'
import { leaveViewing } from './session'
import styles from './ViewingBanner.module.css'

interface ViewingBannerProps {
  me: Me
  viewing: ViewingRow
}

/** Says as whom an operator sees this page, why and until when, with a button that ends the viewing. */
export function ViewingBanner({ me, viewing }: ViewingBannerProps) {
  const { t, rich } = useTexts()
  const client = useQueryClient()
  const [busy, setBusy] = useState(false)
  const end = async () => {
    setBusy(true)
    try {
      await endViewing()
      leaveViewing(client, `/admin/actors/actor/${me.actor.id}/change/`)
    } catch (error) {
      setBusy(false)
      showToast(getErrorText(error))
    }
  }
  return (
    <aside className={styles.banner} aria-label={t('viewing.label')}>
      <Eye className="i s" aria-hidden />
      <p className={styles.text}>
        <span>{rich('viewing.banner', { name: me.actor.name })}</span>{' '}
        <span className={styles.facts} title={viewing.reason}>
          {t('viewing.facts', { reason: viewing.reason, time: formatTime(viewing.ends_at) })}
        </span>
      </p>
      <button type="button" className={styles.end} disabled={busy} onClick={() => void end()}>
        {t(busy ? 'viewing.ending' : 'viewing.end')}
      </button>
    </aside>
  )
}
