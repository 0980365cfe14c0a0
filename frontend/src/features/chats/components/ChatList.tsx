import { Hash } from 'lucide-react'
import type { ReactNode } from 'react'
import type { ListedChatRow } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { Avatar } from '@/ui/Avatar'
import blocks from '@/ui/blocks.module.css'
import layout from '@/ui/layout.module.css'
import proseStyles from '@/ui/prose/Prose.module.css'

interface ChatLinkProps {
  row: ListedChatRow
  me: string
  isCurrent: boolean
}

/** The content of a chat's link in the sidebar. */
export function ChatListItem({ row, me, isCurrent }: ChatLinkProps): ReactNode {
  const { t } = useTexts()
  const { chat, unread, mentioned } = row
  const others = row.participants.filter(actor => actor.id !== me)
  const other = others.length === 1 && (chat.is_direct || others[0]?.kind === 'agent') ? others[0] : null
  return (
    <>
      {other ? (
        <Avatar id={other.id} name={other.name} avatar={other.avatar} square={other.kind === 'agent'} size="tiny" />
      ) : (
        <Hash className="i" aria-hidden />
      )}
      <span className="cut">{chat.title}</span>
      {unread > 0 && !isCurrent ? (
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
      ) : null}
    </>
  )
}

export const chatListItemClass = (row: ListedChatRow, isCurrent: boolean) =>
  cx(layout.nav, row.unread > 0 && !isCurrent && layout.unread)
