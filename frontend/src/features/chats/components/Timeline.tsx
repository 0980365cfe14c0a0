import { ArrowDown, ArrowUp, X } from 'lucide-react'
import {
  type KeyboardEvent,
  memo,
  type PointerEvent,
  type Ref,
  Suspense,
  useCallback,
  useEffect,
  useImperativeHandle,
  useMemo,
  useRef,
  useState,
} from 'react'
import { Virtualizer, type VirtualizerHandle } from 'virtua'
import type { MessageRow } from '@/api'
import { SummaryLine } from '@/features/context'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { formatDay, formatShortDate, formatTime, getDayKey } from '@/lib/time'
import { Boundary } from '@/ui/Boundary'
import { IconButton } from '@/ui/Button'
import { lazy } from '@/ui/lazy'
import { Skeleton, useDelayedFlag } from '@/ui/Skeleton'
import type { LogPart } from '../logPart'
import { useLongPress } from '../longPress'
import { getPlaceSeq } from '../otherAnswers'
import { usePaging } from '../paging'
import { isUnread, type useReading } from '../reading'
import { useRovingFocus } from '../roving'
import { type Target, UNREAD } from '../scrollToMessage'
import { useStickToEnd } from '../stickToEnd'
import { containsMessage, getLastSeq, getPlainText, type Item } from '../timeline'
import { runWhenRendered } from '../whenDrawn'
import { AgentReply } from './AgentReply'
import { useChat } from './ChatContext'
import { FileMessage } from './FileMessage'
import { FoldingChoices } from './foldingChoices'
import { System } from './System'
import { TextMessage, UnsentMessage } from './TextMessage'
import styles from './Timeline.module.css'

const Comparison = lazy(() => import('./Comparison').then(module => ({ default: module.Comparison })))
const LoneBoards = lazy(() => import('./Board').then(module => ({ default: module.LoneBoards })))
const LoneSubAgent = lazy(() => import('./SubAgents').then(module => ({ default: module.LoneSubAgent })))

export interface TimelineHandle {
  toEnd(): void
}

interface TimelineProps {
  items: readonly Item[]
  messages: readonly MessageRow[]
  part: LogPart
  reading: ReturnType<typeof useReading>
  /** The message to scroll to; without it, the end of the log is shown. */
  target: Target | null
  goTo(id: string): void
  ref: Ref<TimelineHandle>
}

/** The log. It follows new messages while the reader is at the end; older pages are added above without a jump. */
export function Timeline({ items, messages, part, reading, target, goTo, ref }: TimelineProps) {
  const { t } = useTexts()
  const { me } = useChat()
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useRef<VirtualizerHandle>(null)
  const isNewest = part.range === null
  // The first item is usually a day divider, whose key stays the same when older messages of that day are added.
  const { isShifting, loadIfNear } = usePaging(part, items[1]?.key ?? items[0]?.key ?? '', scroller)
  const { isAtEnd, toEnd, onScroll, onMove, onPress, stopSticking } = useStickToEnd(scroller, isNewest)
  const unreadIndex = useMemo(
    () => (reading.unreadAfter === null ? -1 : items.findLastIndex(item => item.kind === 'new')),
    [items, reading.unreadAfter],
  )
  useScrollTarget({ items, unreadIndex, target, scroller, virtual, stopSticking })
  const trackVisible = useVisibleTracking({
    items,
    messages,
    unreadIndex,
    isAtEnd,
    scroller,
    virtual,
    reading,
  })
  useImperativeHandle(ref, () => ({ toEnd }), [toEnd])

  const lastSeq = messages.at(-1)?.seq ?? 0
  const [lastSeqAtEnd, setLastSeqAtEnd] = useState(lastSeq)
  const [foldingChoices] = useState(() => new Map<string, boolean>())
  if (isAtEnd && lastSeqAtEnd !== lastSeq) setLastSeqAtEnd(lastSeq)
  const unseen = isAtEnd ? 0 : messages.filter(row => getPlaceSeq(row) > lastSeqAtEnd && isUnread(row, me)).length
  const toNewest = () => {
    if (!isNewest) part.toNewest()
    toEnd()
  }
  const roving = useRovingFocus({ items, scroller, virtual })
  const longPress = useLongPress()
  const handleScroll = () => {
    onScroll()
    trackVisible()
    void loadIfNear()
  }
  return (
    <div className={styles.logbox}>
      <UnreadBar reading={reading} goTo={goTo} part={part} />
      {/* `aria-live` is off, because the log would announce every token; `Announcer` announces complete messages. */}
      <div
        className={styles.log}
        id="log"
        ref={scroller}
        role="log"
        data-pane="log"
        aria-live="off"
        aria-label={t('messages')}
        {...roving.log}
        {...longPress}
        onWheel={onMove}
        onTouchMove={onMove}
        onPointerDown={(event: PointerEvent<HTMLElement>) => {
          onPress(event)
          longPress.onPointerDown(event)
        }}
        onKeyDown={(event: KeyboardEvent<HTMLElement>) => {
          onMove()
          roving.log.onKeyDown(event)
          if (event.key === 'End' && isNewest) toEnd()
        }}
        onScroll={handleScroll}
      >
        <div className={styles.in}>
          {part.hasOlder ? (
            <div className={styles.older} data-older>
              <Skeleton lines={2} label={t('loadingOlder')} />
            </div>
          ) : null}
          <FoldingChoices value={foldingChoices}>
            <Virtualizer
              ref={virtual}
              scrollRef={scroller}
              shift={isShifting}
              startMargin={part.hasOlder ? OLDER_PX : 0}
              bufferSize={600}
              data={items}
              keepMounted={roving.keepMounted}
            >
              {renderItem}
            </Virtualizer>
          </FoldingChoices>
        </div>
      </div>
      <span {...roving.end} />
      {unseen > 0 ? (
        <button type="button" className={styles.pill} onClick={toNewest}>
          <ArrowDown className="i s" aria-hidden />
          {t('newMessages', { count: unseen })}
        </button>
      ) : isAtEnd ? null : (
        <IconButton className={styles.tonewest} label={t('toNewest')} onClick={toNewest}>
          <ArrowDown className="i" />
        </IconButton>
      )}
    </div>
  )
}

/** The height of `data-older`, which is above the virtual list. */
const OLDER_PX = 56

/** Height of the earlier messages that stay visible above the "new" divider, in px. */
const CONTEXT_PX = 48

interface ScrollTarget {
  items: readonly Item[]
  unreadIndex: number
  target: Target | null
  scroller: { current: HTMLElement | null }
  virtual: { current: VirtualizerHandle | null }
  stopSticking(): void
}

/** Scrolls to the "new" divider when it first appears, and to the target. */
function useScrollTarget({ items, unreadIndex, target, scroller, virtual, stopSticking }: ScrollTarget): void {
  /** The `number` of the last target that was scrolled to; 0 for the divider. */
  const scrolledTo = useRef<number | null>(null)
  const number = target?.number ?? 0
  const index = target
    ? items.findIndex(item => (target.id === UNREAD ? item.kind === 'new' : containsMessage(item, target.id)))
    : unreadIndex
  useEffect(() => {
    const log = scroller.current
    if (index < 0 || scrolledTo.current === number || !log) return
    scrolledTo.current = number
    stopSticking()
    if (target && target.id !== UNREAD) return showMessage(log, virtual.current, index, target.id)
    virtual.current?.scrollToIndex(index, { align: 'start', offset: -CONTEXT_PX })
  }, [index, number, target, scroller, virtual, stopSticking])
}

function showMessage(log: HTMLElement, virtual: VirtualizerHandle | null, index: number, id: string): void {
  virtual?.scrollToIndex(index, { align: 'center' })
  const selector = `[data-message="${CSS.escape(id)}"],[data-part="${CSS.escape(id)}"]`
  const find = () => log.querySelector(selector)?.closest<HTMLElement>('[data-message]')
  // Wait two animation frames, because a dialog that was just closed restores the focus first.
  requestAnimationFrame(() => requestAnimationFrame(() => runWhenRendered(find, message => mark(log, message))))
}

/** Focuses the message that was searched or linked, and marks it as the current one, until another one is. */
function mark(log: HTMLElement, message: HTMLElement): void {
  for (const before of log.querySelectorAll('[data-message][aria-current]')) before.removeAttribute('aria-current')
  message.setAttribute('aria-current', 'true')
  message.focus({ preventScroll: true })
}

interface VisibleTracking {
  items: readonly Item[]
  messages: readonly MessageRow[]
  unreadIndex: number
  /** Whether the end of the log is visible. */
  isAtEnd: boolean
  scroller: { current: HTMLElement | null }
  virtual: { current: VirtualizerHandle | null }
  reading: ReturnType<typeof useReading>
}

/** Returns a function that reports the visible messages as seen. It is also called when the page becomes visible. */
function useVisibleTracking({
  items,
  messages,
  unreadIndex,
  isAtEnd,
  scroller,
  virtual,
  reading,
}: VisibleTracking): () => void {
  const { isCaughtUp, markUnreadSeen, onSeen } = reading
  const trackVisible = useCallback(() => {
    const [log, list] = [scroller.current, virtual.current]
    if (!log || !list || document.visibilityState !== 'visible') return
    const first = list.findItemIndex(log.scrollTop)
    const last = list.findItemIndex(log.scrollTop + log.clientHeight)
    if (unreadIndex >= 0 && !isCaughtUp && first <= unreadIndex && unreadIndex <= last) markUnreadSeen()
    // The last item may be only partly visible.
    else onSeen(isAtEnd ? (messages.at(-1)?.seq ?? 0) : Math.max(0, ...items.slice(first, last).map(getLastSeq)))
  }, [items, messages, unreadIndex, isAtEnd, scroller, virtual, isCaughtUp, markUnreadSeen, onSeen])
  useEffect(() => {
    const frame = requestAnimationFrame(trackVisible)
    document.addEventListener('visibilitychange', trackVisible)
    return () => {
      cancelAnimationFrame(frame)
      document.removeEventListener('visibilitychange', trackVisible)
    }
  }, [trackVisible])
  return trackVisible
}

interface UnreadBarProps {
  reading: ReturnType<typeof useReading>
  part: LogPart
  goTo(id: string): void
}

/** The bar shown while new messages are above the visible part: their number, their time, and a button to go there. */
function UnreadBar({ reading, part, goTo }: UnreadBarProps) {
  const { t } = useTexts()
  const { isCaughtUp, hasGap, firstUnreadPage, since, count, markUnreadSeen } = reading
  const isLate = useDelayedFlag(!isCaughtUp, 400)
  if (!isLate || count === 0) return null
  const n = count > 99 ? '99+' : count
  const jump = () => {
    if (hasGap && firstUnreadPage) part.open(firstUnreadPage)
    goTo(UNREAD)
  }
  return (
    <div className={styles.newsbar} role="status">
      <span>{since ? t('newsSince', { n, time: formatSince(since) }) : t('newsCount', { n })}</span>
      <button type="button" className="link" onClick={jump} aria-disabled={hasGap && !firstUnreadPage}>
        <ArrowUp className="i s" aria-hidden />
        {t('jumpToUnread')}
      </button>
      <IconButton small label={t('markChatRead')} onClick={markUnreadSeen}>
        <X className="i s" />
      </IconButton>
    </div>
  )
}

/** Formats a time of today, or a date and time. */
const formatSince = (iso: string) =>
  getDayKey(iso) === new Date().toDateString() ? formatTime(iso) : `${formatShortDate(iso)} ${formatTime(iso)}`

const renderItem = (item: Item) => <ItemView key={item.key} item={item} />

/** Memoized, so that it renders only when its item changes. */
const ItemView = memo(function ItemView({ item }: { item: Item }) {
  const { t } = useTexts()
  return (
    <div data-item={item.key}>
      <Boundary text={getPlainText(item)} resetKeys={[item]}>
        <Suspense fallback={<Skeleton lines={2} label={t('loading')} />}>
          <ItemContent item={item} />
        </Suspense>
      </Boundary>
    </div>
  )
})

function ItemContent({ item }: { item: Item }) {
  switch (item.kind) {
    case 'day':
      return <DayDivider at={item.at} />
    case 'new':
      return <NewMessagesDivider />
    case 'summary':
      return <SummaryDivider />
    case 'message':
      return item.row.type === 'FILE_MESSAGE' ? (
        <FileMessage row={item.row} continuesAuthor={item.continuesAuthor} />
      ) : (
        <TextMessage row={item.row} continuesAuthor={item.continuesAuthor} />
      )
    case 'unsent':
      return <UnsentMessage entry={item.entry} continuesAuthor={item.continuesAuthor} />
    case 'reply':
      return (
        <AgentReply
          runId={item.runId}
          agentId={item.agentId}
          rows={item.rows}
          earlierRows={item.earlierRows}
          at={item.at}
          last={item.last}
          answeredId={item.answeredId}
          subAgents={item.subAgents}
          boards={item.boards}
          answers={item.answers}
          isUnused={item.isUnused}
        />
      )
    case 'subAgent':
      return <LoneSubAgent subAgent={item.subAgent} />
    case 'board':
      return <LoneBoards boards={item.boards} at={item.at} />
    case 'comparison':
      return <Comparison row={item.row} production={item.production} draft={item.draft} />
    case 'system':
      return <System row={item.row} rows={item.rows} boards={item.boards} />
  }
}

function SummaryDivider() {
  const { chatId, goTo } = useChat()
  return <SummaryLine chatId={chatId} goTo={goTo} />
}

function DayDivider({ at }: { at: string }) {
  useTexts()
  useRenderAtMidnight()
  return <div className={styles.day}>{formatDay(at)}</div>
}

/** Renders again at midnight, because "today" becomes "yesterday". */
function useRenderAtMidnight(): void {
  const [today, setToday] = useState(() => new Date().toDateString())
  // biome-ignore lint/correctness/useExhaustiveDependencies: `today` restarts the timer after midnight
  useEffect(() => {
    const timer = setTimeout(() => setToday(new Date().toDateString()), new Date().setHours(24, 0, 1, 0) - Date.now())
    return () => clearTimeout(timer)
  }, [today])
}

function NewMessagesDivider() {
  const { t } = useTexts()
  return <div className={cx(styles.day, styles.new)}>{t('newMessagesBelow')}</div>
}
