import { type ReactNode, useContext, useMemo } from 'react'
import type { FileMessageRow, TextMessageRow } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { formatTime } from '@/lib/time'
import { Avatar } from '@/ui/Avatar'
import { ReadMarksContext } from '../readMarks'
import { useChat } from './ChatContext'
import messageStyles from './Message.module.css'
import { Actions, getTextId, MessageHeader, PinMark, Quote } from './MessageParts'
import { Reactions } from './Reactions'

interface MessageFrameProps {
  row: TextMessageRow | FileMessageRow
  /** Whether the message before it is by the same author, so that the author is not shown again. */
  continuesAuthor: boolean
  children: ReactNode
  /** The mark of an edited message. */
  mark?: ReactNode
  footer?: ReactNode
  /** False while the message is being edited, and once it is deleted. */
  hasActions?: boolean
}

/** What texts and files outside of replies have: the author, the time, the message that is answered, and the actions. */
export function MessageFrame(props: MessageFrameProps) {
  const { row, continuesAuthor, children, mark, footer, hasActions = true } = props
  const { findActor } = useChat()
  const { t } = useTexts()
  const author = findActor(row.author_id)
  const name = author?.name ?? t('unknownPerson')
  const pinned = row.pinned_at ? row : undefined
  const rows = useMemo(() => [row], [row])
  return (
    <article
      className={cx(messageStyles.msg, continuesAuthor && messageStyles.more)}
      data-message={row.id}
      tabIndex={-1}
      aria-label={`${name}, ${formatTime(row.created_at)}${row.edited_at ? `, ${t('edited')}` : ''}`}
      aria-describedby={getTextId(row.id)}
    >
      {continuesAuthor && row.pinned_at ? (
        <PinMark row={row} />
      ) : continuesAuthor ? (
        <time aria-hidden>{formatTime(row.created_at)}</time>
      ) : (
        <Avatar
          id={row.author_id ?? ''}
          name={name}
          avatar={author?.avatar}
          square={author?.kind === 'agent'}
          size="l"
        />
      )}
      <div className={messageStyles.c}>
        {continuesAuthor ? null : (
          <MessageHeader actor={author} name={name} at={row.created_at} pinned={pinned}>
            {mark}
          </MessageHeader>
        )}
        {row.reply_to ? <Quote id={row.reply_to} /> : null}
        <div id={getTextId(row.id)}>{children}</div>
        {continuesAuthor ? mark : null}
        <Reactions rows={rows} />
        {footer}
        <ReadMarks id={row.id} />
      </div>
      {hasActions ? <Actions row={row} /> : null}
    </article>
  )
}

/** The agents that have read up to this message. */
function ReadMarks({ id }: { id: string }) {
  const { findActor } = useChat()
  const { t } = useTexts()
  const agents = useContext(ReadMarksContext).get(id)
  if (!agents) return null
  return (
    <span className={messageStyles.readers}>
      {agents.map(agent => {
        const actor = findActor(agent)
        const name = actor?.name ?? t('agent')
        const label = t('readUpToHere', { name })
        return (
          <span key={agent} role="img" aria-label={label} title={label}>
            <Avatar id={agent} name={name} avatar={actor?.avatar} square size="tiny" />
          </span>
        )
      })}
    </span>
  )
}
