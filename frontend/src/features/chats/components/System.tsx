import {
  AlarmClock,
  Archive,
  CircleAlert,
  CircleStop,
  ListChecks,
  Pin,
  RotateCcw,
  Unplug,
  UserMinus,
  UserPlus,
} from 'lucide-react'
import { memo, Suspense } from 'react'
import type { SystemMessageRow } from '@/api'
import { LayerIcon } from '@/features/layers'
import { useTexts } from '@/lib/language'
import { formatList } from '@/lib/names'
import { Collapsible } from '@/ui/Collapsible'
import { lazy } from '@/ui/lazy'
import { PathLink } from '@/ui/PathLink'
import { isBeginningOfChat } from '../groupedMessages'
import { useBoard, useMessageOfBoard } from '../hooks'
import { buildSystemText, type SystemText } from '../system'
import type { PlacedBoard } from '../timeline'
import { AppliedChange } from './AppliedChange'
import { useChat } from './ChatContext'
import { getTextId, Time } from './MessageParts'
import { Summary } from './Summary'
import styles from './System.module.css'

const BoardsOfMessage = lazy(() => import('./Board').then(module => ({ default: module.BoardsOfMessage })))

/** A system message with its icon, the note of its author and, of a suggestion, a model's summary. */
export const System = memo(function System({
  row,
  rows,
  boards,
}: {
  row: SystemMessageRow
  rows: readonly SystemMessageRow[]
  /** The board that the message shows. */
  boards: readonly PlacedBoard[]
}) {
  if (rows.length > 1) return <MessageGroup rows={rows} />
  if (boards.length === 0) return <SingleMessage row={row} />
  return (
    <>
      <SingleMessage row={row} />
      <Suspense fallback={null}>
        <BoardsOfMessage boards={boards} />
      </Suspense>
    </>
  )
})

/** Several messages of one action, shown as one. Suggestions expand to all; joins name all people. */
function MessageGroup({ rows }: { rows: readonly SystemMessageRow[] }) {
  const { findActor } = useChat()
  const { t, rich } = useTexts()
  const messages = rows.flatMap(
    row =>
      buildSystemText(row, (id, fallback) => findActor(id)?.name || fallback || t('unknownPerson'), formatList) ?? [],
  )
  const [first] = messages
  if (!first) return null
  const isJoining = rows[0]?.type === 'MEMBER_JOINED'
  const isBeginning = rows[0] !== undefined && isBeginningOfChat(rows[0])
  const key = isBeginning ? 'sys.created' : isJoining ? 'sys.joinedMany' : 'sys.acceptedMany'
  const targets = (isBeginning ? messages.slice(1) : messages).map(message => message.values.target)
  const values = { ...first.values, count: rows.length, targets: formatList(targets) }
  return (
    <div className={styles.sys} data-message={rows[0]?.id} {...getFocusAttributes(rows[0]?.id)}>
      <EventIcon kind={first.icon} />
      <div id={getTextId(rows[0]?.id ?? '')}>
        {rich(key, values)} <Time at={rows[0]?.created_at ?? ''} />
        {isJoining ? null : (
          <Collapsible plain head={t('details')}>
            {rows.map(row => (
              <SingleMessage key={row.id} row={row} isPart />
            ))}
          </Collapsible>
        )}
      </div>
    </div>
  )
}

/** Attributes that make a system message focusable by the arrow keys, with its text as its name. */
export const getFocusAttributes = (id = '') => ({ role: 'group', tabIndex: -1, 'aria-labelledby': getTextId(id) })

/** `isPart`: the message is shown inside a group. */
function SingleMessage({ row, isPart = false }: { row: SystemMessageRow; isPart?: boolean }) {
  const { findActor } = useChat()
  const { t, rich } = useTexts()
  const message = buildSystemText(
    row,
    (id, fallback) => findActor(id)?.name || fallback || t('unknownPerson'),
    formatList,
  )
  const forkedAt = useBoard(row.chat_id, row.payload.board_id ?? '')?.forked_at
  if (!message) return null
  const { suggestionId } = message
  const { actor } = message.values
  return (
    <div className={styles.sys} data-message={row.id} {...(isPart ? {} : getFocusAttributes(row.id))}>
      <EventIcon kind={message.icon} />
      <div id={isPart ? undefined : getTextId(row.id)}>
        {row.type === 'TASKS_STARTED' && forkedAt
          ? rich('sys.tasksAgain', { actor, n: forkedAt })
          : rich(message.key, message.values)}{' '}
        <SubjectLink row={row} message={message} />
        {row.type === 'DRAFT_APPLIED' ? <AppliedChange row={row} /> : <Time at={row.created_at} />}
        {message.quote ? <p className={styles.sysnote}>{message.quote}</p> : null}
        {message.summary && suggestionId ? <Summary summary={message.summary} suggestionId={suggestionId} /> : null}
      </div>
    </div>
  )
}

/** The link or button that opens the subject of a system message, if it has one. */
function SubjectLink({ row, message }: { row: SystemMessageRow; message: SystemText }) {
  const { chatId, suggestionPath, publicAgentPath, onGo, openWorkshop, goTo } = useChat()
  const { t } = useTexts()
  const { suggestionId, publicAgentId, draftOf } = message
  const messageOfBoard = useMessageOfBoard(chatId, row.payload.board_id ?? '')
  const messageId = row.payload.message_id ?? (messageOfBoard === row.id ? null : messageOfBoard)
  const path = suggestionId ? suggestionPath(suggestionId) : publicAgentId ? publicAgentPath(publicAgentId) : null
  if (path)
    return (
      <PathLink className={styles.open} data-opens="subject" path={path} onGo={onGo}>
        {t('sys.see')}
      </PathLink>
    )
  const open = messageId ? () => goTo(messageId) : draftOf ? () => openWorkshop(draftOf) : null
  if (!open) return null
  return (
    <button type="button" className={styles.open} data-opens="subject" onClick={open}>
      {t(messageId ? 'sys.see' : 'sys.look')}
    </button>
  )
}

function EventIcon({ kind }: { kind: SystemText['icon'] }) {
  switch (kind) {
    case 'joined':
      return <UserPlus className="i" aria-hidden />
    case 'left':
      return <UserMinus className="i" aria-hidden />
    case 'failed':
      return <CircleAlert className="i" aria-hidden />
    case 'stopped':
      return <CircleStop className="i" aria-hidden />
    case 'context':
      return <Archive className="i" aria-hidden />
    case 'woken':
      return <AlarmClock className="i" aria-hidden />
    case 'pinned':
      return <Pin className="i" aria-hidden />
    case 'answer':
      return <RotateCcw className="i" aria-hidden />
    case 'tasks':
      return <ListChecks className="i" aria-hidden />
    case 'limit':
      return <Unplug className="i" aria-hidden />
    default:
      return <LayerIcon layer={kind} />
  }
}
