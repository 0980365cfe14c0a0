import { useEffect, useRef, useState } from 'react'
import { useUnreadNotifications } from '@/api'
import { useTexts } from '@/lib/language'

/** How long something may be unread before it is spoken (ms): what the reader is just looking at is read by then. */
const PAUSE_MS = 1_500

/** Says politely that there is something new; nothing when there is less than before. */
export function UnreadAnnouncer() {
  const { t } = useTexts()
  const unread = useUnreadNotifications()
  const before = useRef<number | undefined>(undefined)
  const [text, setText] = useState('')
  useEffect(() => {
    // What was unread when the page opened is not new.
    before.current ??= unread
    const timer = setTimeout(() => {
      const known = before.current
      before.current = unread
      setText(unread !== undefined && unread > (known ?? 0) ? t('newNotification', { count: unread }) : '')
    }, PAUSE_MS)
    return () => clearTimeout(timer)
  }, [unread, t])
  return (
    <div className="sr" role="status">
      {text}
    </div>
  )
}
