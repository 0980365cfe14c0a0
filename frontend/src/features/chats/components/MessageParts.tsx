import { Columns2, Reply, RotateCw } from 'lucide-react'
import { memo, useCallback } from 'react'
import type { ActorRow, MessageRow, TextMessageRow } from '@/api'
import { useTexts } from '@/lib/language'
import { formatFullTime, formatTime } from '@/lib/time'
import { Avatar } from '@/ui/Avatar'
import { IconButton } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { withNames } from '@/ui/prose/mentions'
import { useHasDraft } from '../hooks'
import { useChat } from './ChatContext'
import messageStyles from './Message.module.css'

/** The text of a message; empty where its type has none. */
const textOf = (row: MessageRow): string => ('text' in row.payload ? row.payload.text : '')

/** What a message says, as the description of its line in the log. */
export const textId = (messageId: string) => `text-${messageId}`

export const Time = memo(function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={formatFullTime(at)}>
      {formatTime(at)}
    </time>
  )
})

interface MessageHeaderProps {
  actor: ActorRow | null
  name: string
  at: string
}

export function MessageHeader({ actor, name, at }: MessageHeaderProps) {
  const { t } = useTexts()
  return (
    <div className={messageStyles.who}>
      <b>{name}</b>
      {actor?.kind === 'agent' ? <span className={blocks.badge}>{t('agent')}</span> : null}
      <Time at={at} />
    </div>
  )
}

/** What a message says, in one line: by names, and without what was deleted. */
export function useLineOf(): (row: MessageRow | undefined) => string {
  const { t } = useTexts()
  const { names } = useChat()
  return useCallback(
    row => {
      if (!row) return t('earlierMessage')
      return row.deleted ? t('deleted') : withNames(textOf(row), names).slice(0, LINE)
    },
    [t, names],
  )
}

/** Characters of a message that a line of a quote may show. */
const LINE = 400

/** The message that this one answers, as one line. */
export function Quote({ id }: { id: string }) {
  const { t } = useTexts()
  const { find, who, goTo } = useChat()
  const lineOf = useLineOf()
  const row = find(id)
  const author = row ? who(row.author_id) : null
  return (
    <button type="button" className={messageStyles.quote} onClick={() => goTo(id)} title={t('goToMessage')}>
      <Reply className="i s" aria-hidden />
      {author ? (
        <Avatar id={author.id} name={author.name} avatar={author.avatar} square={author.kind === 'agent'} size="tiny" />
      ) : null}
      <span className="sr">{t('replyTo', { name: author?.name ?? '' })}</span>
      <span className="cut">{lineOf(row)}</span>
    </button>
  )
}

/** What can be done with a message; floats at its top right. */
export function Actions({ row }: { row: TextMessageRow }) {
  const { t } = useTexts()
  const { chatId, me, reply, compare, askDraft, who } = useChat()
  const hasDraft = useHasDraft(chatId, row.author_id, me)
  const canCompare = compare !== null && who(row.author_id)?.kind === 'human'
  return (
    <div className={messageStyles.acts} role="toolbar" aria-label={t('messageActions')}>
      <IconButton small label={t('reply')} onClick={() => reply(row)}>
        <Reply className="i" />
      </IconButton>
      {hasDraft && row.run_id ? (
        <IconButton small label={t('tryWithDraft')} onClick={() => askDraft(row)}>
          <RotateCw className="i" />
        </IconButton>
      ) : null}
      {canCompare ? (
        <IconButton small label={t('compare.dots')} aria-haspopup="dialog" onClick={() => compare(row)}>
          <Columns2 className="i" />
        </IconButton>
      ) : null}
    </div>
  )
}
