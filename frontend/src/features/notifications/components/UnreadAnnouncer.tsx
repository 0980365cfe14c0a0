import { useEffect, useRef, useState } from 'react'
import { useUnreadNotifications } from '@/api'
import { useTexts } from '@/lib/language'

/** Delay before a new notification is announced, in ms. A notification that the reader is looking at is read by then. */
const PAUSE_MS = 1_500

/** Announces to screen readers that there are new notifications. */
export function UnreadAnnouncer() {
  const { t } = useTexts()
  const unread = useUnreadNotifications()
  const before = useRef<number | undefined>(undefined)
  const [text, setText] = useState('')
  useEffect(() => {
    // Notifications that were unread when the page was opened are not new.
    before.current ??= unread
    const timer = setTimeout(() => {
      const previous = before.current
      before.current = unread
      setText(unread !== undefined && unread > (previous ?? 0) ? t('newNotification', { count: unread }) : '')
    }, PAUSE_MS)
    return () => clearTimeout(timer)
  }, [unread, t])
  return (
    <div className="sr" role="status">
      {text}
    </div>
  )
}
