import {
  AtSign,
  BellRing,
  CirclePause,
  CircleX,
  Cpu,
  GitMerge,
  Globe,
  Hand,
  KeyRound,
  LockOpen,
  type LucideIcon,
  MessageCirclePlus,
  MessageSquareCheck,
  MessageSquareDashed,
  MessageSquarePlus,
  MessageSquareX,
  PiggyBank,
  ShieldQuestion,
  Trash2,
  Wrench,
} from 'lucide-react'
import type { NotificationRow } from '@/api'
import { cx } from '@/lib/cx'
import { getCodeText } from '@/lib/errors'
import { t, useTexts } from '@/lib/language'
import { getRunErrorText } from '@/lib/runErrors'
import { detectLanguage } from '@/lib/textLanguage'
import { formatFullTime, formatRelative } from '@/lib/time'
import { PathLink } from '@/ui/PathLink'
import { getKind, getPath, getRightKey, type IconName, type NotificationKind } from '../wording'
import notificationsStyles from './Notifications.module.css'

const icons: Record<IconName, LucideIcon> = {
  mention: AtSign,
  chat: MessageCirclePlus,
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
  budget: PiggyBank,
  approval: ShieldQuestion,
  tools: Wrench,
  public: Globe,
  deleted: Trash2,
  access: KeyRound,
  paused: CirclePause,
}

export interface Origin {
  handle: string
  /** The name of the workspace if it is not the current one, else an empty string. */
  otherWorkspace: string
  chatTitle: string
}

interface NotificationItemProps {
  row: NotificationRow
  origin: Origin
  onRead(): void
  onGo(path: string): void
}

/** A notification with a link to its subject; without a link if the subject is not open to the reader any more. */
export function NotificationItem({ row, origin, onRead, onGo }: NotificationItemProps) {
  const kind = getKind(row, origin.chatTitle)
  if (!kind) return null
  const path = getPath(row, origin.handle)
  const Icon = icons[kind.icon]
  const attributes = {
    className: cx(notificationsStyles.item, !row.is_read && notificationsStyles.unread),
    'data-notification': row.id,
  }
  const content = (
    <>
      <span className={notificationsStyles.sign} data-layer={kind.layer ?? undefined}>
        <Icon className={cx('i', kind.icon === 'failed' && 'no')} aria-hidden />
      </span>
      <NotificationText row={row} origin={origin} kind={kind} />
    </>
  )
  if (path)
    return (
      <PathLink
        {...attributes}
        path={path}
        onGo={target => {
          onRead()
          onGo(target)
        }}
      >
        {content}
      </PathLink>
    )
  return (
    <button type="button" {...attributes} onClick={onRead}>
      {content}
    </button>
  )
}

interface NotificationTextProps extends Pick<NotificationItemProps, 'row' | 'origin'> {
  kind: NotificationKind
}

/** What happened, an excerpt of its subject, its workspace if that is another one, its time, and a dot if it is unread. */
function NotificationText({ row, origin, kind }: NotificationTextProps) {
  const { t, rich } = useTexts()
  // The excerpt of an invitation is the chat's title, which the text names if the chat is known.
  const isExcerptInText = row.type === 'chat_invitation' && origin.chatTitle !== ''
  return (
    <>
      <span className={notificationsStyles.text}>
        <span>{rich(kind.key, { actor: row.actor_name, agent: row.agent_name, chat: origin.chatTitle })}</span>
        {isExcerptInText ? null : <Excerpt row={row} />}
        {origin.otherWorkspace ? (
          <span className="faint xs">{t('notification.inWorkspace', { workspace: origin.otherWorkspace })}</span>
        ) : null}
      </span>
      <span className={notificationsStyles.when}>
        <time className="faint xs" dateTime={row.created_at} title={formatFullTime(row.created_at)}>
          {formatRelative(row.created_at)}
        </time>
        {row.is_read ? null : (
          <span className={notificationsStyles.new}>
            <span className="sr">{t('unreadNotification')}</span>
          </span>
        )}
      </span>
    </>
  )
}

const getRightText = (codename: string) => {
  const key = getRightKey(codename)
  return key ? t(key) : codename
}

/**
 * What the server stored as `excerpt`: a text, title, name, host or amount; for a failed merge or run an error code, for a
 * grant the name of the right in code. That of a merge which was done is the code why it was done line by line, which its page explains.
 */
function Excerpt({ row }: Pick<NotificationItemProps, 'row'>) {
  if (!row.excerpt || row.type === 'merge_done') return null
  const getText = {
    merge_failed: getCodeText,
    run_failed: getRunErrorText,
    grant_given: getRightText,
    grant_taken: getRightText,
  }[row.type as string]
  const text = getText ? getText(row.excerpt) : row.excerpt
  return (
    <span className={cx(notificationsStyles.quote, 'muted')} lang={detectLanguage(text)}>
      {text}
    </span>
  )
}
