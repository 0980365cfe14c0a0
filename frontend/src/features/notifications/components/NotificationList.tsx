import { BellOff } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, useCallback } from 'react'
import {
  type Me,
  type NotificationRow,
  useChats,
  useMarkNotifications,
  useNotifications,
  useUnreadNotifications,
} from '@/api'
import { useTexts } from '@/lib/language'
import { notificationsPath } from '@/lib/paths'
import { Button } from '@/ui/Button'
import { EmptyState } from '@/ui/EmptyState'
import { ListPopover } from '@/ui/ListPopover'
import { Loading } from '@/ui/Loading'
import { useBrowserState } from '../browserState'
import { formatChatTitle } from '../wording'
import { NotificationItem, type Origin } from './NotificationItem'
import notificationsStyles from './Notifications.module.css'

interface NotificationListProps {
  me: Me
  workspaceId: string
  trigger: ReactNode
  onGo(path: string): void
  open: boolean
  onOpenChange(open: boolean): void
}

/** The list of notifications, which `trigger` opens. */
export function NotificationList({ trigger, open, onOpenChange, onGo, ...rest }: NotificationListProps) {
  const { t } = useTexts()
  const unread = useUnreadNotifications() ?? 0
  const mark = useMarkNotifications()
  const isOff = useBrowserState() === 'off'
  const workspace = rest.me.workspaces.find(({ id }) => id === rest.workspaceId)
  const go = (path: string) => {
    onOpenChange(false)
    onGo(path)
  }
  return (
    <ListPopover
      title={t('notifications')}
      align="start"
      open={open}
      onOpenChange={onOpenChange}
      trigger={trigger}
      actions={
        <Button tone="flat" size="xs" blocked={unread === 0} onClick={() => mark.mutate(null)}>
          {t('markAllRead')}
        </Button>
      }
    >
      <NotificationItems {...rest} onGo={go} />
      {isOff && workspace ? (
        <Button tone="flat" onClick={() => go(notificationsPath(workspace.handle))}>
          {t('browserNotifications.offer')}
        </Button>
      ) : null}
    </ListPopover>
  )
}

function NotificationItems({ me, workspaceId, onGo }: Pick<NotificationListProps, 'me' | 'workspaceId' | 'onGo'>) {
  const { t } = useTexts()
  const notifications = useNotifications()
  const getOrigin = useGetOrigin(me, workspaceId)
  const mark = useMarkNotifications()
  const rows = notifications.data?.pages.flatMap(page => page.results)
  if (!rows) return <Loading query={notifications} lines={8} />
  if (rows.length === 0)
    return (
      <EmptyState icon={BellOff} title={t('noNotifications')}>
        {t('noNotificationsHint')}
      </EmptyState>
    )
  return (
    <ul className={notificationsStyles.list} onKeyDown={moveFocus}>
      {rows.map(row => (
        <li key={row.id}>
          <NotificationItem
            row={row}
            origin={getOrigin(row)}
            onRead={() => row.is_read || mark.mutate(row.id)}
            onGo={onGo}
          />
        </li>
      ))}
      {notifications.hasNextPage ? (
        <li>
          <Button
            tone="flat"
            busy={notifications.isFetchingNextPage ? t('loading') : null}
            onClick={() => void notifications.fetchNextPage()}
          >
            {t('moreNotifications')}
          </Button>
        </li>
      ) : null}
    </ul>
  )
}

/** Returns a function that finds the names of a notification's workspace and chat, as far as they are loaded. */
function useGetOrigin(me: Me, workspaceId: string): (row: NotificationRow) => Origin {
  const chats = useChats(workspaceId).data
  return useCallback(
    row => {
      const workspace = me.workspaces.find(workspace => workspace.id === row.workspace_id)
      const isHere = row.workspace_id === workspaceId
      return {
        handle: workspace?.handle ?? '',
        otherWorkspace: isHere ? '' : (workspace?.name ?? ''),
        chatTitle: formatChatTitle(chats?.find(listed => listed.chat.id === row.chat_id)?.chat),
      }
    },
    [me, workspaceId, chats],
  )
}

const steps: Record<string, number> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }

/** Moves the focus between notifications with ↑ ↓ and J K. */
function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const step = steps[event.key]
  if (!step || event.ctrlKey || event.metaKey || event.altKey) return
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-notification]')]
  const next = items[items.indexOf(document.activeElement as HTMLElement) + step]
  if (!next) return
  event.preventDefault()
  next.focus()
}
