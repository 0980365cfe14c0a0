import { Columns2, Pin, PinOff, Reply, RotateCw, ScanSearch } from 'lucide-react'
import { memo, useCallback } from 'react'
import type { ActorRow, FileMessageRow, MessageRow, TextMessageRow } from '@/api'
import { useTexts } from '@/lib/language'
import { formatFullTime, formatTime } from '@/lib/time'
import { Avatar } from '@/ui/Avatar'
import { IconButton } from '@/ui/Button'
import { type FindActor, useBoard, useHasDraft } from '../hooks'
import { formatMessageLine } from '../messageLine'
import { chooseRowToPin } from '../pins'
import { AgentBadge } from './AgentBadge'
import { useChat } from './ChatContext'
import messageStyles from './Message.module.css'
import { ThumbButtons } from './Thumbs'

/** Returns the id of the element with the text of a message, which describes the message to screen readers. */
export const getTextId = (messageId: string) => `text-${messageId}`

export const Time = memo(function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={formatFullTime(at)}>
      {formatTime(at)}
    </time>
  )
})

/** Returns a function that says who has pinned a message. */
export function usePinnedBy(findActor: FindActor, me: string): (row: MessageRow) => string {
  const { t } = useTexts()
  return ({ pinned_by: by }) =>
    by === me ? t('pinnedByYou') : t('pinnedBy', { name: findActor(by ?? null)?.name ?? t('unknownPerson') })
}

/** The mark of a pinned message. */
export function PinMark({ row }: { row: MessageRow }) {
  const { findActor, me } = useChat()
  const label = usePinnedBy(findActor, me)(row)
  return (
    <span className={messageStyles.pinned} role="img" aria-label={label} title={label}>
      <Pin className="i" />
    </span>
  )
}

interface MessageHeaderProps {
  actor: ActorRow | null
  name: string
  at: string
  /** The pinned row of the message. */
  pinned?: MessageRow | undefined
}

export function MessageHeader({ actor, name, at, pinned }: MessageHeaderProps) {
  return (
    <div className={messageStyles.who}>
      <b>{name}</b>
      {actor?.kind === 'agent' ? <AgentBadge actor={actor} /> : null}
      <Time at={at} />
      {pinned ? <PinMark row={pinned} /> : null}
    </div>
  )
}

/** Returns a function that formats a message by `formatMessageLine`; one that is not loaded has a text of its own. */
export function useFormatLine(): (row: MessageRow | undefined) => string {
  const { t } = useTexts()
  const { findName } = useChat()
  return useCallback(row => (row ? formatMessageLine(row, findName) : t('earlierMessage')), [t, findName])
}

/** The message that a reply quotes, or the request of the board that it answers, in one line. `count`: how many messages the reply answers, the quoted one first. */
export function Quote({ id, count = 1 }: { id: string; count?: number }) {
  const { t } = useTexts()
  const { chatId, findMessage, findActor, goTo } = useChat()
  const formatLine = useFormatLine()
  const row = findMessage(id)
  const board = useBoard(chatId, id)
  const author = findActor(row?.author_id ?? board?.started_by)
  const isWokenByHand = row?.type === 'AGENT_WOKEN' && !row.payload.text
  const getName = (actorId: string | null | undefined) => findActor(actorId ?? null)?.name ?? ''
  const line = isWokenByHand
    ? t('sys.woken', { actor: getName(row.payload.actor_id), target: getName(row.payload.target_id) })
    : (board?.user_input ?? formatLine(row))
  return (
    <button
      type="button"
      className={messageStyles.quote}
      onClick={() => goTo(board?.message_id ?? id)}
      title={t('goToMessage')}
    >
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

interface ActionsProps {
  row: TextMessageRow | FileMessageRow
  /** All rows that are shown as this message. */
  rows?: readonly MessageRow[]
  /** False for a part of a reply that goes on below it, or is not complete yet. */
  isAnswer?: boolean
}

/** The toolbar of a message, at its top right. */
export function Actions({ row, rows = [row], isAnswer = true }: ActionsProps) {
  const { t } = useTexts()
  const { chatId, me, reply, togglePin, compare, askDraft, findActor, runPath, onGo } = useChat()
  const rowToPin = togglePin ? chooseRowToPin(rows) : undefined
  const runId = row.type === 'TEXT_MESSAGE' ? row.run_id : null
  const hasDraft = useHasDraft(chatId, row.author_id, me)
  const isComparable = runId === null ? findActor(row.author_id)?.kind === 'human' : hasDraft
  return (
    <div className={messageStyles.acts} role="toolbar" aria-label={t('messageActions')}>
      <IconButton small label={t('reply')} onClick={() => reply(row)}>
        <Reply className="i" />
      </IconButton>
      {togglePin && rowToPin ? (
        <IconButton small label={t(rowToPin.pinned_at ? 'unpin' : 'pin')} onClick={() => togglePin(rowToPin)}>
          {rowToPin.pinned_at ? <PinOff className="i" /> : <Pin className="i" />}
        </IconButton>
      ) : null}
      {hasDraft && row.type === 'TEXT_MESSAGE' && row.run_id ? (
        <IconButton small label={t('tryWithDraft')} onClick={() => askDraft(row)}>
          <RotateCw className="i" />
        </IconButton>
      ) : null}
      {compare && isComparable && row.type === 'TEXT_MESSAGE' ? (
        <IconButton small label={t('compare.dots')} aria-haspopup="dialog" onClick={() => compare(row)}>
          <Columns2 className="i" />
        </IconButton>
      ) : null}
      <ThumbButtons row={row} isAnswer={isAnswer} />
      {runId ? (
        <IconButton small label={t('inspector.inspect')} onClick={() => onGo(runPath(runId))}>
          <ScanSearch className="i" />
        </IconButton>
      ) : null}
    </div>
  )
}
