import {
  Columns2,
  Copy,
  Ellipsis,
  FileCode,
  type LucideIcon,
  Pencil,
  Pin,
  PinOff,
  Reply,
  RotateCcw,
  RotateCw,
  ScanSearch,
  SmilePlus,
  Trash2,
} from 'lucide-react'
import { memo, type ReactNode, Suspense, useCallback, useRef, useState } from 'react'
import type { ActorRow, FileMessageRow, MessageRow, TextMessageRow } from '@/api'
import type { ActionId } from '@/lib/actions'
import { useTexts } from '@/lib/language'
import { formatFullTime, formatTime } from '@/lib/time'
import { Avatar } from '@/ui/Avatar'
import { IconButton } from '@/ui/Button'
import { lazy } from '@/ui/lazy'
import { canDelete } from '../deletions'
import { isOwnText } from '../edits'
import { type FindActor, useBoard, useHasDraft } from '../hooks'
import { formatMessageLine } from '../messageLine'
import { chooseRowToPin } from '../pins'
import { chooseRowToReact, openChoiceOf } from '../reactions'
import { canHaveThumb } from '../thumbs'
import { AgentBadge } from './AgentBadge'
import { useChat } from './ChatContext'
import messageStyles from './Message.module.css'
import { useThumbActions } from './Thumbs'

const MessageMenu = lazy(() => import('./MessageMenu').then(module => ({ default: module.MessageMenu })))

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
  /** Shown after the time. */
  children?: ReactNode
}

export function MessageHeader({ actor, name, at, pinned, children }: MessageHeaderProps) {
  return (
    <div className={messageStyles.who}>
      <b>{name}</b>
      {actor?.kind === 'agent' ? <AgentBadge actor={actor} /> : null}
      <Time at={at} />
      {children}
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

export interface MessageAction {
  label: string
  icon: LucideIcon
  run(): void
  /** The action of `lib/actions.ts` whose key does the same. */
  shortcut?: ActionId
  opensDialog?: true
  /** Whether it is in the menu of the toolbar. */
  isInMenu?: true
  /** Whether it is shown as dangerous, such as a deletion. */
  isBad?: true
  /** Of an action that is switched on and off. */
  isPressed?: boolean
}

/** Lists what the reader can do with a message, in the order of its toolbar and of its menu. */
function useMessageActions({ row, rows = [row], isAnswer = true }: ActionsProps): MessageAction[] {
  const { t } = useTexts()
  const { me, isEditor, reply, edit, remove, togglePin, canReact, runPath, onGo } = useChat()
  const ofText = useTextActions(row)
  const otherAnswer = useOtherAnswerAction(row, rows, isAnswer)
  const thumbs = useThumbActions(row, isAnswer)
  const rowToPin = togglePin ? chooseRowToPin(rows) : undefined
  const actions: MessageAction[] = [
    { label: t('reply'), icon: Reply, run: () => reply(row), shortcut: 'message.reply' },
  ]
  if (edit && isOwnText(row, me))
    actions.push({ label: t('edit'), icon: Pencil, run: () => edit(row), shortcut: 'message.edit' })
  actions.push(...ofText, ...otherAnswer, ...thumbs)
  if (canReact && chooseRowToReact(rows))
    actions.unshift({
      label: t('react'),
      icon: SmilePlus,
      run: () => openChoiceOf(rows, rows[0]?.id ?? row.id),
      shortcut: 'message.react',
      opensDialog: true,
    })
  if (togglePin && rowToPin)
    actions.push({
      label: t(rowToPin.pinned_at ? 'unpin' : 'pin'),
      icon: rowToPin.pinned_at ? PinOff : Pin,
      run: () => togglePin(rowToPin),
      shortcut: 'message.pin',
      isInMenu: true,
    })
  const runId = row.type === 'TEXT_MESSAGE' ? row.run_id : null
  if (runId)
    actions.push({ label: t('inspector.inspect'), icon: ScanSearch, run: () => onGo(runPath(runId)), isInMenu: true })
  if (remove && canDelete(row, me, isEditor))
    actions.push({
      label: t('deleteMessage'),
      icon: Trash2,
      run: () => remove(row),
      shortcut: 'message.delete',
      isInMenu: true,
      isBad: true,
    })
  return actions
}

/** Returns the action that asks for another answer; none if the row belongs to no complete answer of an agent. */
function useOtherAnswerAction(row: MessageRow, rows: readonly MessageRow[], isAnswer: boolean): MessageAction[] {
  const { t } = useTexts()
  const { askOtherAnswer, findActor } = useChat()
  const runId = row.run_id
  const hasFailed = rows.some(({ type }) => type === 'RUN_FAILED' || type === 'RUN_STOPPED')
  if (!isAnswer || !askOtherAnswer || !runId || hasFailed || !canHaveThumb(row, findActor)) return []
  return [
    {
      label: t('otherAnswer'),
      icon: RotateCcw,
      run: () => askOtherAnswer(runId),
      shortcut: 'message.otherAnswer',
    },
  ]
}

function useTextActions(row: TextMessageRow | FileMessageRow): MessageAction[] {
  const { t } = useTexts()
  const { chatId, me, copy, compare, askDraft, findActor } = useChat()
  const hasDraft = useHasDraft(chatId, row.author_id, me)
  if (row.type !== 'TEXT_MESSAGE') return []
  const actions: MessageAction[] = []
  const isComparable = row.run_id ? hasDraft : findActor(row.author_id)?.kind === 'human'
  if (hasDraft && row.run_id) actions.push({ label: t('tryWithDraft'), icon: RotateCw, run: () => askDraft(row) })
  if (compare && isComparable)
    actions.push({
      label: t('compare.dots'),
      icon: Columns2,
      run: () => compare(row),
      shortcut: 'message.compare',
      opensDialog: true,
    })
  return [
    ...actions,
    {
      label: t('copyText'),
      icon: Copy,
      run: () => copy(row.id, 'text'),
      shortcut: 'message.copyText',
      isInMenu: true,
    },
    {
      label: t('copyMarkdown'),
      icon: FileCode,
      run: () => copy(row.id, 'markdown'),
      shortcut: 'message.copyMarkdown',
      isInMenu: true,
    },
  ]
}

/**
 * The toolbar of a message, at its top right. A touch screen, which has no hover, shows all actions with their words at its
 * bottom instead (`longPress.ts`).
 */
export function Actions(props: ActionsProps) {
  const { t } = useTexts()
  const actions = useMessageActions(props)
  const inMenu = actions.filter(({ isInMenu }) => isInMenu)
  return (
    <div className={messageStyles.acts} role="toolbar" aria-label={t('messageActions')}>
      {actions.map(({ label, icon: Icon, run, opensDialog, isInMenu, isPressed }) => (
        <IconButton
          key={label}
          small
          label={label}
          className={isInMenu && messageStyles.inMenu}
          aria-haspopup={opensDialog && 'dialog'}
          aria-pressed={isPressed}
          onClick={run}
        >
          <Icon className="i" aria-hidden />
        </IconButton>
      ))}
      {inMenu.length > 0 ? <MenuButton actions={inMenu} /> : null}
    </div>
  )
}

/** The button of the menu of a message, whose code is loaded on first use. */
function MenuButton({ actions }: { actions: readonly MessageAction[] }) {
  const { t } = useTexts()
  const button = useRef<HTMLButtonElement>(null)
  const [isRequested, setRequested] = useState(false)
  const trigger = (
    <IconButton
      ref={button}
      small
      label={t('moreActions')}
      className={messageStyles.menuButton}
      aria-haspopup="menu"
      onClick={() => setRequested(true)}
    >
      <Ellipsis className="i" aria-hidden />
    </IconButton>
  )
  if (!isRequested) return trigger
  return (
    <Suspense fallback={trigger}>
      <MessageMenu
        trigger={trigger}
        actions={actions}
        onClosed={() => button.current?.closest<HTMLElement>('[data-message]')?.focus({ preventScroll: true })}
      />
    </Suspense>
  )
}
