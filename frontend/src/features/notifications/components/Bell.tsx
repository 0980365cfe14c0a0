import { Bell as BellIcon } from 'lucide-react'
import { Suspense, useState } from 'react'
import { type Me, useUnreadNotifications } from '@/api'
import { useTexts } from '@/lib/language'
import { IconButton } from '@/ui/Button'
import { lazy } from '@/ui/lazy'

const Notes = lazy(() => import('./Notes').then(module => ({ default: module.Notes })))

const MOST = 99

interface BellProps {
  me: Me
  workspaceId: string
  onGo(path: string): void
}

/** The bell with how much is unread; what it opens comes with the first use. */
export function Bell(props: BellProps) {
  const { t } = useTexts()
  const unread = useUnreadNotifications() ?? 0
  const [isWanted, setWanted] = useState(false)
  const [isOpen, setOpen] = useState(false)
  const open = () => {
    setWanted(true)
    setOpen(true)
  }
  const shown = unread > MOST ? `${MOST}+` : `${unread}`
  const label = unread > 0 ? t('notificationsUnread', { unread: shown }) : t('notifications')
  const trigger = (
    <IconButton label={label} aria-haspopup="dialog" onClick={isWanted ? undefined : open}>
      <BellIcon className="i" aria-hidden />
      {unread > 0 ? (
        <span className="dot num" aria-hidden>
          {shown}
        </span>
      ) : null}
    </IconButton>
  )
  if (!isWanted) return trigger
  return (
    <Suspense fallback={trigger}>
      <Notes {...props} trigger={trigger} open={isOpen} onOpenChange={setOpen} />
    </Suspense>
  )
}
