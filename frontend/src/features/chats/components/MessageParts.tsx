import { Columns2, Reply, RotateCw, ScanSearch } from 'lucide-react'
import { memo, useCallback } from 'react'
import type { ActorRow, FileMessageRow, MessageRow, TextMessageRow } from '@/api'
import { useTexts } from '@/lib/language'
import { formatFullTime, formatTime } from '@/lib/time'
import { Avatar } from '@/ui/Avatar'
import { IconButton } from '@/ui/Button'
import { replaceHandlesByNames } from '@/ui/prose/mentions'
import { useHasDraft } from '../hooks'
import { AgentBadge } from './AgentBadge'
import { useChat } from './ChatContext'
import messageStyles from './Message.module.css'

/** Returns the text of a message, or an empty string if its type has none. */
const getMessageText = (row: MessageRow): string =>
  row.type === 'FILE_MESSAGE' ? row.payload.name : 'text' in row.payload ? (row.payload.text ?? '') : ''

/** Returns the id of the element with the text of a message, which describes the message to screen readers. */
export const getTextId = (messageId: string) => `text-${messageId}`

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
  return (
    <div className={messageStyles.who}>
      <b>{name}</b>
      {actor?.kind === 'agent' ? <AgentBadge actor={actor} /> : null}
      <Time at={at} />
    </div>
  )
}

/** Returns a function that formats a message as one line, with names instead of handles. */
export function useFormatLine(): (row: MessageRow | undefined) => string {
  const { t } = useTexts()
  const { names } = useChat()
  return useCallback(
    row => {
      if (!row) return t('earlierMessage')
      return row.deleted ? t('deleted') : replaceHandlesByNames(getMessageText(row), names).slice(0, MAX_QUOTE_LENGTH)
    },
    [t, names],
  )
}

/** The maximal length of a quote, in characters. */
const MAX_QUOTE_LENGTH = 400

/** The message that this one replies to, in one line. `count`: how many messages it answers, of which this is the first. */
export function Quote({ id, count = 1 }: { id: string; count?: number }) {
  const { t } = useTexts()
  const { findMessage, findActor, goTo } = useChat()
  const formatLine = useFormatLine()
  const row = findMessage(id)
  const author = row ? findActor(row.author_id) : null
  const isWokenByHand = row?.type === 'AGENT_WOKEN' && !row.payload.text
  const getName = (actorId: string | null | undefined) => findActor(actorId ?? null)?.name ?? ''
  const line = isWokenByHand
    ? t('sys.woken', { actor: getName(row.payload.actor_id), target: getName(row.payload.target_id) })
    : formatLine(row)
  return (
    <button type="button" className={messageStyles.quote} onClick={() => goTo(id)} title={t('goToMessage')}>
      <Reply className="i s" aria-hidden />
      {author ? (
        <Avatar id={author.id} name={author.name} avatar={author.avatar} square={author.kind === 'agent'} size="tiny" />
      ) : null}
      <span className="sr">{t('replyTo', { name: author?.name ?? '' })}</span>
      <span className="cut">{line}</span>
      {count > 1 ? <span className="faint">{t('answersMany', { count })}</span> : null}
    </button>
  )
}

/** The toolbar of a message, at its top right. */
export function Actions({ row }: { row: TextMessageRow | FileMessageRow }) {
  const { t } = useTexts()
  const { chatId, me, reply, compare, askDraft, findActor, runPath, onGo } = useChat()
  const runId = row.type === 'TEXT_MESSAGE' ? row.run_id : null
  const hasDraft = useHasDraft(chatId, row.author_id, me)
  const canCompare = compare !== null && findActor(row.author_id)?.kind === 'human'
  return (
    <div className={messageStyles.acts} role="toolbar" aria-label={t('messageActions')}>
      <IconButton small label={t('reply')} onClick={() => reply(row)}>
        <Reply className="i" />
      </IconButton>
      {hasDraft && row.type === 'TEXT_MESSAGE' && row.run_id ? (
        <IconButton small label={t('tryWithDraft')} onClick={() => askDraft(row)}>
          <RotateCw className="i" />
        </IconButton>
      ) : null}
      {canCompare && row.type === 'TEXT_MESSAGE' ? (
        <IconButton small label={t('compare.dots')} aria-haspopup="dialog" onClick={() => compare(row)}>
          <Columns2 className="i" />
        </IconButton>
      ) : null}
      {runId ? (
        <IconButton small label={t('inspector.inspect')} onClick={() => onGo(runPath(runId))}>
          <ScanSearch className="i" />
        </IconButton>
      ) : null}
    </div>
  )
}
