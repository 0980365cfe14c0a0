import { BellOff, X } from 'lucide-react'
import { Dialog, Popover } from 'radix-ui'
import { type KeyboardEvent, type ReactNode, useCallback } from 'react'
import {
  type Me,
  type NotificationRow,
  useChats,
  useMarkNotifications,
  useNotifications,
  useUnreadNotifications,
} from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { Button, IconButton } from '@/ui/Button'
import { EmptyState } from '@/ui/EmptyState'
import { Loading } from '@/ui/Loading'
import menuStyles from '@/ui/Menu.module.css'
import { useIsPhone } from '@/ui/useIsPhone'
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

/** The list that hangs on its button; on a phone the whole screen. */
export function NotificationList({ trigger, open, onOpenChange, onGo, ...rest }: NotificationListProps) {
  const { t } = useTexts()
  const isPhone = useIsPhone()
  const go = (path: string) => {
    onOpenChange(false)
    onGo(path)
  }
  if (isPhone)
    return (
      <Dialog.Root open={open} onOpenChange={onOpenChange}>
        <Dialog.Trigger asChild>{trigger}</Dialog.Trigger>
        <Dialog.Portal>
          <Dialog.Content
            className={cx(notificationsStyles.notes, notificationsStyles.fullScreen)}
            aria-describedby={undefined}
          >
            <Head
              title={
                <Dialog.Title asChild>
                  <h2>{t('notifications')}</h2>
                </Dialog.Title>
              }
              close={
                <Dialog.Close asChild>
                  <IconButton label={t('close')}>
                    <X className="i" />
                  </IconButton>
                </Dialog.Close>
              }
            />
            <List {...rest} onGo={go} />
          </Dialog.Content>
        </Dialog.Portal>
      </Dialog.Root>
    )
  return (
    <Popover.Root open={open} onOpenChange={onOpenChange}>
      <Popover.Trigger asChild>{trigger}</Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          className={cx(menuStyles.pop, notificationsStyles.notes)}
          align="start"
          sideOffset={6}
          collisionPadding={8}
          aria-label={t('notifications')}
        >
          <Head title={<h2>{t('notifications')}</h2>} />
          <List {...rest} onGo={go} />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}

function Head({ title, close }: { title: ReactNode; close?: ReactNode }) {
  const { t } = useTexts()
  const unread = useUnreadNotifications() ?? 0
  const mark = useMarkNotifications()
  return (
    <header>
      {title}
      <Button tone="flat" size="xs" blocked={unread === 0} onClick={() => mark.mutate(null)}>
        {t('markAllRead')}
      </Button>
      {close}
    </header>
  )
}

function List({ me, workspaceId, onGo }: Pick<NotificationListProps, 'me' | 'workspaceId' | 'onGo'>) {
  const { t } = useTexts()
  const found = useNotifications()
  const originOf = useOriginOf(me, workspaceId)
  const mark = useMarkNotifications()
  const rows = found.data?.pages.flatMap(page => page.results)
  if (!rows) return <Loading query={found} lines={8} />
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
            origin={originOf(row)}
            onRead={() => row.is_read || mark.mutate(row.id)}
            onGo={onGo}
          />
        </li>
      ))}
      {found.hasNextPage ? (
        <li>
          <Button
            tone="flat"
            busy={found.isFetchingNextPage ? t('loading') : null}
            onClick={() => void found.fetchNextPage()}
          >
            {t('moreNotifications')}
          </Button>
        </li>
      ) : null}
    </ul>
  )
}

/** Names of where something happened, as far as this page knows them. */
function useOriginOf(me: Me, workspaceId: string): (row: NotificationRow) => Origin {
  const chats = useChats(workspaceId).data
  return useCallback(
    row => {
      const workspace = me.workspaces.find(each => each.id === row.workspace_id)
      const isHere = row.workspace_id === workspaceId
      return {
        handle: workspace?.handle ?? '',
        elsewhere: isHere ? '' : (workspace?.name ?? ''),
        chatTitle: nameOfChat(chats?.find(each => each.chat.id === row.chat_id)?.chat.title),
      }
    },
    [me, workspaceId, chats],
  )
}

/** An agent may have the same name. */
const nameOfChat = (title: string | undefined) => (title ? `#${title}` : '')

const steps: Record<string, number> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }

/** ↑ ↓ and J K go from line to line. */
function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const step = steps[event.key]
  if (!step || event.ctrlKey || event.metaKey || event.altKey) return
  const notes = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-note]')]
  const next = notes[notes.indexOf(document.activeElement as HTMLElement) + step]
  if (!next) return
  event.preventDefault()
  next.focus()
}
