import { Hash } from 'lucide-react'
import type { ReactNode } from 'react'
import type { ChatSummaryRow } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { Face } from '@/ui/Face'
import { useTypists } from '../hooks'

interface ChatLinkProps {
  summary: ChatSummaryRow
  me: string
  isCurrent: boolean
}

/** What stands in a chat's line of the sidebar; the link around it belongs to the router. */
export function ChatLine({ summary, me, isCurrent }: ChatLinkProps): ReactNode {
  const { t } = useTexts()
  const { chat, unread, mentioned } = summary
  const isTyping = useTypists(chat.id).length > 0
  const others = summary.members.filter(actor => actor.id !== me)
  const only = others.length === 1 && others[0]?.kind === 'agent' ? others[0] : null
  return (
    <>
      {only ? <Face id={only.id} name={only.name} square size="tiny" /> : <Hash className="i" aria-hidden />}
      <span className="cut">{chat.title}</span>
      {isTyping && !isCurrent ? (
        <span className="st typing" role="img" aria-label={t('typing')}>
          <i />
          <i />
          <i />
        </span>
      ) : unread > 0 && !isCurrent ? (
        <span className="st">
          {mentioned ? (
            <b className="at" title={t('mentionedYou')}>
              @
            </b>
          ) : null}
          <span className="count">
            {unread > 99 ? '99+' : unread}
            <span className="sr"> {t('unread')}</span>
          </span>
        </span>
      ) : null}
    </>
  )
}

export const chatLineClass = (summary: ChatSummaryRow, isCurrent: boolean) =>
  cx('nav', summary.unread > 0 && !isCurrent && 'unread')
