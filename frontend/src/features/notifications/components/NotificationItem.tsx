import {
  AtSign,
  BellRing,
  CircleX,
  Cpu,
  GitMerge,
  Hand,
  LockOpen,
  type LucideIcon,
  MessageSquareCheck,
  MessageSquareDashed,
  MessageSquarePlus,
  MessageSquareX,
} from 'lucide-react'
import type { NotificationRow } from '@/api'
import { cx } from '@/lib/cx'
import { getCodeText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { detectLanguage } from '@/lib/textLanguage'
import { formatFullTime, formatRelative } from '@/lib/time'
import { PathLink } from '@/ui/PathLink'
import { kindOf, pathOf, type Sign } from '../wording'
import notificationsStyles from './Notifications.module.css'

const icons: Record<Sign, LucideIcon> = {
  mention: AtSign,
  suggestion: MessageSquarePlus,
  accepted: MessageSquareCheck,
  rejected: MessageSquareX,
  reopened: MessageSquareDashed,
  lock: LockOpen,
  asked: Hand,
  free: BellRing,
  merged: GitMerge,
  failed: CircleX,
  model: Cpu,
}

export interface Origin {
  handle: string
  /** The workspace's name, when it is not the one on the screen. */
  elsewhere: string
  chatTitle: string
}

interface NotificationItemProps {
  row: NotificationRow
  origin: Origin
  onRead(): void
  onGo(path: string): void
}

/** One line of the list. It leads to where it happened; what leads nowhere any more is only marked as read. */
export function NotificationItem({ row, origin, onRead, onGo }: NotificationItemProps) {
  const kind = kindOf(row, origin.chatTitle)
  if (!kind) return null
  const path = pathOf(row, origin.handle)
  const Icon = icons[kind.sign]
  const attributes = {
    className: cx(notificationsStyles.note, !row.is_read && notificationsStyles.unread),
    'data-note': row.id,
  }
  const inside = (
    <>
      <span className={notificationsStyles.sign} data-layer={kind.layer ?? undefined}>
        <Icon className={cx('i', kind.sign === 'failed' && 'no')} aria-hidden />
      </span>
      <NotificationText row={row} origin={origin} />
    </>
  )
  if (path)
    return (
      <PathLink
        {...attributes}
        path={path}
        onGo={there => {
          onRead()
          onGo(there)
        }}
      >
        {inside}
      </PathLink>
    )
  return (
    <button type="button" {...attributes} onClick={onRead}>
      {inside}
    </button>
  )
}

function NotificationText({ row, origin }: Pick<NotificationItemProps, 'row' | 'origin'>) {
  const { t, rich } = useTexts()
  const kind = kindOf(row, origin.chatTitle)
  if (!kind) return null
  return (
    <>
      <span className={notificationsStyles.text}>
        <span>{rich(kind.key, { actor: row.actor_name, agent: row.agent_name, chat: origin.chatTitle })}</span>
        {row.excerpt ? <Quote row={row} /> : null}
        {origin.elsewhere ? (
          <span className="faint xs">{t('note.inWorkspace', { workspace: origin.elsewhere })}</span>
        ) : null}
      </span>
      <span className={notificationsStyles.when}>
        <time className="faint xs" dateTime={row.created_at} title={formatFullTime(row.created_at)}>
          {formatRelative(row.created_at)}
        </time>
        {row.is_read ? null : (
          <span className={notificationsStyles.new}>
            <span className="sr">{t('unreadNote')}</span>
          </span>
        )}
      </span>
    </>
  )
}

/** An excerpt of the message; for a failed merge, the text of its error code. */
function Quote({ row }: Pick<NotificationItemProps, 'row'>) {
  const text = row.type === 'merge_failed' ? getCodeText(row.excerpt) : row.excerpt
  return (
    <span className={cx(notificationsStyles.quote, 'muted')} lang={detectLanguage(text)}>
      {text}
    </span>
  )
}
