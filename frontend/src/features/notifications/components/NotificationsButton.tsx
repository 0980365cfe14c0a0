import { Bell as BellIcon } from 'lucide-react'
import { Suspense, useState } from 'react'
import { type Me, useUnreadNotifications } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { IconButton } from '@/ui/Button'
import { lazy } from '@/ui/lazy'
import notificationsStyles from './Notifications.module.css'

const NotificationList = lazy(() => import('./NotificationList').then(module => ({ default: module.NotificationList })))

const MAX_COUNT = 99

interface NotificationsButtonProps {
  me: Me
  workspaceId: string
  onGo(path: string): void
}

/** The button with the number of unread notifications. The list is loaded on first use. */
export function NotificationsButton(props: NotificationsButtonProps) {
  const { t } = useTexts()
  const unread = useUnreadNotifications() ?? 0
  const [isRequested, setRequested] = useState(false)
  const [isOpen, setOpen] = useState(false)
  const open = () => {
    setRequested(true)
    setOpen(true)
  }
  const unreadText = unread > MAX_COUNT ? `${MAX_COUNT}+` : `${unread}`
  const label = unread > 0 ? t('notificationsUnread', { unread: unreadText }) : t('notifications')
  const trigger = (
    <IconButton label={label} aria-haspopup="dialog" onClick={isRequested ? undefined : open}>
      <BellIcon className="i" aria-hidden />
      {unread > 0 ? (
        <span className={cx(notificationsStyles.dot, 'num')} aria-hidden>
          {unreadText}
        </span>
      ) : null}
    </IconButton>
  )
  if (!isRequested) return trigger
  return (
    <Suspense fallback={trigger}>
      <NotificationList {...props} trigger={trigger} open={isOpen} onOpenChange={setOpen} />
    </Suspense>
  )
}
