import { Hash, ShieldQuestion } from 'lucide-react'
import type { ReactNode } from 'react'
import type { ActorRow, ListedChatRow, MessageRow } from '@/api'
import { cx } from '@/lib/cx'
import { t, useTexts } from '@/lib/language'
import { detectLanguage } from '@/lib/textLanguage'
import { formatShortTime } from '@/lib/time'
import { Avatar } from '@/ui/Avatar'
import blocks from '@/ui/blocks.module.css'
import layout from '@/ui/layout.module.css'
import proseStyles from '@/ui/prose/Prose.module.css'
import { formatMessageLine } from '../messageLine'
import styles from './ChatList.module.css'

interface ChatLinkProps {
  row: ListedChatRow
  me: string
  isCurrent: boolean
  /** Whether something in the chat waits for the reader. */
  waits: boolean
}

/** The content of a chat's link in the sidebar. */
export function ChatListItem({ row, me, isCurrent, waits }: ChatLinkProps): ReactNode {
  const { t } = useTexts()
  const { chat, last_message } = row
  const others = row.participants.filter(actor => actor.id !== me)
  const other = others.length === 1 && (chat.is_direct || others[0]?.kind === 'agent') ? others[0] : null
  const last = last_message && formatLastMessage(last_message, row.participants, me, other !== null)
  return (
    <>
      {other ? (
        <Avatar id={other.id} name={other.name} avatar={other.avatar} square={other.kind === 'agent'} size="tiny" />
      ) : (
        <Hash className="i" aria-hidden />
      )}
      <span className={styles.lines}>
        <span className={styles.line}>
          <span className="cut">{chat.title}</span>
          {last_message ? (
            <time aria-hidden dateTime={last_message.created_at}>
              {formatShortTime(last_message.created_at)}
            </time>
          ) : null}
        </span>
        <span className={styles.line}>
          {waits ? (
            <span className={styles.waits}>
              <ShieldQuestion className="i s" aria-hidden />
              <span className="cut">{t('waitsForYou')}</span>
            </span>
          ) : (
            <span
              className={cx('cut', styles.last)}
              aria-hidden
              data-text={last ?? ''}
              lang={last ? detectLanguage(last) : undefined}
            />
          )}
          {isCurrent ? null : <UnreadCount row={row} />}
        </span>
      </span>
    </>
  )
}

function UnreadCount({ row: { unread, mentioned } }: Pick<ChatLinkProps, 'row'>) {
  const { t } = useTexts()
  if (unread === 0) return null
  return (
    <span className={layout.st}>
      {mentioned ? (
        <b className={proseStyles.at} title={t('mentionedYou')}>
          @
        </b>
      ) : null}
      <span className={blocks.count} data-unread>
        {unread > 99 ? '99+' : unread}
        <span className="sr"> {t('unread')}</span>
      </span>
    </span>
  )
}

/** Formats the last message with its author, who is left out if the chat has the name of the only other one in it. */
function formatLastMessage(
  message: MessageRow,
  participants: readonly ActorRow[],
  me: string,
  isOfOneOther: boolean,
): string {
  const text = formatMessageLine(message, handle => {
    const actor = participants.find(actor => actor.handle === handle)
    return actor ? { name: actor.name, isMe: actor.id === me } : null
  })
  if (message.author_id === me) return t('lastMessage.own', { text })
  const author = isOfOneOther ? undefined : participants.find(actor => actor.id === message.author_id)
  return author ? t('lastMessage.of', { name: author.name, text }) : text
}

export const chatListItemClass = (row: ListedChatRow, isCurrent: boolean) =>
  cx(layout.nav, styles.row, row.unread > 0 && !isCurrent && layout.unread)
