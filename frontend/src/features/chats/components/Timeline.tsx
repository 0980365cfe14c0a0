import { ArrowDown, ArrowUp, X } from 'lucide-react'
import {
  type KeyboardEvent,
  memo,
  type PointerEvent,
  type Ref,
  useCallback,
  useEffect,
  useImperativeHandle,
  useMemo,
  useRef,
  useState,
} from 'react'
import { Virtualizer, type VirtualizerHandle } from 'virtua'
import type { MessageRow } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { dayKey, formatDay, formatShortDate, formatTime } from '@/lib/time'
import { Boundary } from '@/ui/Boundary'
import { IconButton } from '@/ui/Button'
import { Skeleton, useDelayedFlag } from '@/ui/Skeleton'
import type { LogPart } from '../logPart'
import { useLongPress } from '../longPress'
import { usePaging } from '../paging'
import { isNews, type useReading } from '../reading'
import { useRovingFocus } from '../roving'
import { NEWS, type Target } from '../scrollToMessage'
import { useStickToEnd } from '../stickToEnd'
import { type Item, plainTextOf } from '../timeline'
import { whenRendered } from '../whenDrawn'
import { AgentReply } from './AgentReply'
import { useChat } from './ChatContext'
import { Comparison } from './Comparison'
import { System } from './System'
import { TextMessage, UnsentMessage } from './TextMessage'
import styles from './Timeline.module.css'

export interface TimelineHandle {
  toEnd(): void
}

interface TimelineProps {
  items: readonly Item[]
  messages: readonly MessageRow[]
  part: LogPart
  reading: ReturnType<typeof useReading>
  /** What is to be shown; the end of the log without one. */
  target: Target | null
  goTo(id: string): void
  ref: Ref<TimelineHandle>
}

function containsMessage(item: Item, id: string): boolean {
  switch (item.kind) {
    case 'new':
      return id === NEWS
    case 'text':
      return item.row.id === id
    case 'system':
    case 'reply':
      return item.rows.some(row => row.id === id)
    case 'comparison':
      return [item.row, ...item.production, ...item.draft].some(row => row.id === id)
    default:
      return false
  }
}

/** The last `seq` of an item's messages. */
function seqOf(item: Item | undefined): number {
  switch (item?.kind) {
    case 'text':
    case 'comparison':
      return item.row.seq
    case 'system':
    case 'reply':
      return item.rows.at(-1)?.seq ?? 0
    default:
      return 0
  }
}

/** The log. It keeps its place unless the reader is at the end; older pages come in above without a jump. */
export function Timeline({ items, messages, part, reading, target, goTo, ref }: TimelineProps) {
  const { t } = useTexts()
  const { me } = useChat()
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useRef<VirtualizerHandle>(null)
  const isNewest = part.range === null
  const { isShifting, loadIfNear } = usePaging(part, items[1]?.key ?? items[0]?.key ?? '', scroller)
  const { isAtEnd, toEnd, onScroll, onMove, letGo } = useStickToEnd(scroller, isNewest)
  const newsAt = useMemo(
    () => (reading.newsAfter === null ? -1 : items.findLastIndex(item => item.kind === 'new')),
    [items, reading.newsAfter],
  )
  useScrollTarget({ items, newsAt, target, scroller, virtual, letGo })
  const trackVisible = useVisibleTracking({
    items,
    messages,
    newsAt,
    isAtEnd: isAtEnd && isNewest,
    scroller,
    virtual,
    reading,
  })
  useImperativeHandle(ref, () => ({ toEnd }), [toEnd])

  const lastSeq = messages.at(-1)?.seq ?? 0
  const [leftAt, setLeftAt] = useState(lastSeq)
  if (isAtEnd && leftAt !== lastSeq) setLeftAt(lastSeq)
  const unseen = isAtEnd ? 0 : messages.filter(row => row.seq > leftAt && isNews(row, me)).length
  const toNewest = () => {
    if (!isNewest) part.toNewest()
    toEnd()
  }
  const roving = useRovingFocus({ items, scroller, virtual })
  const press = useLongPress()
  const scrolled = () => {
    onScroll()
    trackVisible()
    void loadIfNear()
  }
  return (
    <div className={styles.logbox}>
      <NewsBar reading={reading} goTo={goTo} part={part} />
      {/* Finished sentences are spoken by the announcer; this log would speak every token. */}
      <div
        className={styles.log}
        id="log"
        ref={scroller}
        role="log"
        data-pane="log"
        aria-live="off"
        aria-label={t('messages')}
        {...roving.log}
        {...press}
        onWheel={onMove}
        onTouchMove={onMove}
        onPointerDown={(event: PointerEvent<HTMLElement>) => {
          onMove()
          press.onPointerDown(event)
        }}
        onKeyDown={(event: KeyboardEvent<HTMLElement>) => {
          onMove()
          roving.log.onKeyDown(event)
          if (event.key === 'End' && isNewest) toEnd()
        }}
        onScroll={scrolled}
      >
        <div className={styles.in}>
          {part.hasOlder ? (
            <div className={styles.older} data-older>
              <Skeleton lines={2} label={t('loadingOlder')} />
            </div>
          ) : null}
          <Virtualizer
            ref={virtual}
            scrollRef={scroller}
            shift={isShifting}
            startMargin={part.hasOlder ? OLDER_PX : 0}
            bufferSize={600}
            data={items}
            keepMounted={roving.keepMounted}
          >
            {drawItem}
          </Virtualizer>
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

/** The height of `data-older`, which stands above the virtual list. */
const OLDER_PX = 56

/** So much (px) of what was read before stands above the line of what is new. */
const BEFORE_NEWS_PX = 48

interface ScrollTarget {
  items: readonly Item[]
  newsAt: number
  target: Target | null
  scroller: { current: HTMLElement | null }
  virtual: { current: VirtualizerHandle | null }
  letGo(): void
}

/** Leads to what is new when it first appears, and to what is asked for. */
function useScrollTarget({ items, newsAt, target, scroller, virtual, letGo }: ScrollTarget): void {
  const scrolledTo = useRef<number | null>(null)
  const number = target?.number ?? 0
  const at = target ? items.findIndex(item => containsMessage(item, target.id)) : newsAt
  useEffect(() => {
    const log = scroller.current
    if (at < 0 || scrolledTo.current === number || !log) return
    scrolledTo.current = number
    letGo()
    if (target && target.id !== NEWS) return showMessage(log, virtual.current, at, target.id)
    virtual.current?.scrollToIndex(at, { align: 'start', offset: -BEFORE_NEWS_PX })
  }, [at, number, target, scroller, virtual, letGo])
}

function showMessage(log: HTMLElement, virtual: VirtualizerHandle | null, at: number, id: string): void {
  virtual?.scrollToIndex(at, { align: 'center' })
  const selector = `[data-message="${CSS.escape(id)}"],[data-part="${CSS.escape(id)}"]`
  const find = () => log.querySelector(selector)?.closest<HTMLElement>('[data-message]')
  // A frame later: what was closed on the way here gives the focus back first.
  requestAnimationFrame(() => requestAnimationFrame(() => whenRendered(find, flash)))
}

interface VisibleTracking {
  items: readonly Item[]
  messages: readonly MessageRow[]
  newsAt: number
  /** The end of the log is on the screen. */
  isAtEnd: boolean
  scroller: { current: HTMLElement | null }
  virtual: { current: VirtualizerHandle | null }
  reading: ReturnType<typeof useReading>
}

/** Notes what is on the screen, whenever that may have changed. */
function useVisibleTracking({
  items,
  messages,
  newsAt,
  isAtEnd,
  scroller,
  virtual,
  reading,
}: VisibleTracking): () => void {
  const { isCaughtUp, seeNews, onSeen } = reading
  const trackVisible = useCallback(() => {
    const [log, list] = [scroller.current, virtual.current]
    if (!log || !list || document.visibilityState !== 'visible') return
    const first = list.findItemIndex(log.scrollTop)
    const last = list.findItemIndex(log.scrollTop + log.clientHeight)
    if (newsAt >= 0 && !isCaughtUp && first <= newsAt && newsAt <= last) seeNews()
    // The last one may be seen in part only.
    else onSeen(isAtEnd ? (messages.at(-1)?.seq ?? 0) : Math.max(0, ...items.slice(first, last).map(seqOf)))
  }, [items, messages, newsAt, isAtEnd, scroller, virtual, isCaughtUp, seeNews, onSeen])
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

interface NewsBarProps {
  reading: ReturnType<typeof useReading>
  part: LogPart
  goTo(id: string): void
}

/** What is new begins farther up: how much it is, since when, and the way there. */
function NewsBar({ reading, part, goTo }: NewsBarProps) {
  const { t } = useTexts()
  const { isCaughtUp, hasGap, page, since, count, seeNews } = reading
  const isLate = useDelayedFlag(!isCaughtUp, 400)
  if (!isLate || count === 0) return null
  const n = count > 99 ? '99+' : count
  const jump = () => {
    if (hasGap && page) part.open(page)
    goTo(NEWS)
  }
  return (
    <div className={styles.newsbar} role="status">
      <span>{since ? t('newsSince', { n, time: timeOf(since) }) : t('newsCount', { n })}</span>
      <button type="button" className="link" onClick={jump} aria-disabled={hasGap && !page}>
        <ArrowUp className="i s" aria-hidden />
        {t('jumpToNews')}
      </button>
      <IconButton small label={t('markChatRead')} onClick={seeNews}>
        <X className="i s" />
      </IconButton>
    </div>
  )
}

/** The time today, with the day before that. */
const timeOf = (iso: string) =>
  dayKey(iso) === new Date().toDateString() ? formatTime(iso) : `${formatShortDate(iso)} ${formatTime(iso)}`

const drawItem = (item: Item) => <ItemView key={item.key} item={item} />

/** Drawn when its item changes, and not with each frame. */
const ItemView = memo(function ItemView({ item }: { item: Item }) {
  return (
    <div data-item={item.key}>
      <Boundary text={plainTextOf(item)} resetKeys={[item]}>
        <OneItem item={item} />
      </Boundary>
    </div>
  )
})

function OneItem({ item }: { item: Item }) {
  switch (item.kind) {
    case 'day':
      return <Day at={item.at} />
    case 'new':
      return <NewLine />
    case 'text':
      return <TextMessage row={item.row} more={item.more} />
    case 'unsent':
      return <UnsentMessage entry={item.entry} more={item.more} />
    case 'reply':
      return (
        <AgentReply
          runId={item.runId}
          agentId={item.agentId}
          rows={item.rows}
          at={item.at}
          last={item.last}
          answers={item.answers}
        />
      )
    case 'comparison':
      return <Comparison row={item.row} production={item.production} draft={item.draft} />
    case 'system':
      return <System row={item.row} rows={item.rows} />
  }
}

function Day({ at }: { at: string }) {
  useTexts()
  useMidnight()
  return <div className={styles.day}>{formatDay(at)}</div>
}

/** Draws again when the next day begins: what was today is yesterday. */
function useMidnight(): void {
  const [today, setToday] = useState(() => new Date().toDateString())
  // biome-ignore lint/correctness/useExhaustiveDependencies: the next night is waited for once this one is over
  useEffect(() => {
    const timer = setTimeout(() => setToday(new Date().toDateString()), new Date().setHours(24, 0, 1, 0) - Date.now())
    return () => clearTimeout(timer)
  }, [today])
}

function NewLine() {
  const { t } = useTexts()
  return <div className={cx(styles.day, styles.new)}>{t('newLine')}</div>
}

function flash(message: HTMLElement): void {
  message.focus({ preventScroll: true })
  message.dataset['flash'] = ''
  setTimeout(() => delete message.dataset['flash'], 1_600)
}
