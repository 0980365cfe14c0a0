import { ArrowDown } from 'lucide-react'
import { type KeyboardEvent, type Ref, useCallback, useImperativeHandle, useMemo, useRef } from 'react'
import { Virtualizer, type VirtualizerHandle } from 'virtua'
import { useTexts } from '@/lib/language'
import { dayName } from '@/lib/time'
import { Skeleton } from '@/ui/Skeleton'
import { useOlder } from '../older'
import { useStickToEnd } from '../stick'
import type { Item } from '../timeline'
import { AgentReply } from './AgentReply'
import { useChat } from './ChatContext'
import { Comparison } from './Comparison'
import { Said, UnsentMessage } from './Said'
import { System } from './System'

export interface TimelineHandle {
  toEnd(): void
  goTo(messageId: string): void
}

interface TimelineProps {
  items: readonly Item[]
  lastSeq: number
  onRead(seq: number): void
  ref: Ref<TimelineHandle>
}

function holds(item: Item, id: string): boolean {
  switch (item.kind) {
    case 'said':
      return item.row.id === id
    case 'reply':
      return item.rows.some(row => row.id === id)
    case 'comparison':
      return [item.row, ...item.production, ...item.draft].some(row => row.id === id)
    default:
      return false
  }
}

/** The log. It keeps its place unless the reader is at the end; older pages come in above without a jump. */
export function Timeline({ items, lastSeq, onRead, ref }: TimelineProps) {
  const { t } = useTexts()
  const { chatId } = useChat()
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useRef<VirtualizerHandle>(null)
  const { isShifting, hasOlder, loadIfNear } = useOlder(chatId, items[1]?.key ?? items[0]?.key ?? '', scroller)
  const { unseen, toEnd, onScroll, onMove } = useStickToEnd({ scroller, lastSeq, onRead })

  const goTo = useCallback(
    (id: string) => {
      const index = items.findIndex(item => holds(item, id))
      if (index < 0) return
      onMove()
      virtual.current?.scrollToIndex(index, { align: 'center' })
      requestAnimationFrame(() => flash(scroller.current, id))
    },
    [items, onMove],
  )
  useImperativeHandle(ref, () => ({ toEnd, goTo }), [toEnd, goTo])

  const drawn = useMemo(() => items.map(item => <ItemView key={item.key} item={item} />), [items])
  const scrolled = () => {
    onScroll()
    void loadIfNear()
  }
  return (
    <div className="logbox">
      {/* Finished sentences are spoken by the announcer; this log would speak every token. */}
      <div
        className="log"
        id="log"
        ref={scroller}
        role="log"
        aria-live="off"
        aria-label={t('messages')}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a log that scrolls must be reachable by keyboard
        tabIndex={0}
        onWheel={onMove}
        onTouchMove={onMove}
        onPointerDown={onMove}
        onKeyDown={event => {
          onMove()
          moveFocus(event)
        }}
        onScroll={scrolled}
      >
        <div className="in">
          {hasOlder ? (
            <div className="older">
              <Skeleton lines={2} label={t('loadingOlder')} />
            </div>
          ) : null}
          <Virtualizer
            ref={virtual}
            scrollRef={scroller}
            shift={isShifting}
            startMargin={hasOlder ? OLDER_PX : 0}
            bufferSize={600}
          >
            {drawn}
          </Virtualizer>
        </div>
      </div>
      {unseen > 0 ? (
        <button type="button" className="pill" onClick={toEnd}>
          <ArrowDown className="i s" aria-hidden />
          {t('newMessages', { count: unseen })}
        </button>
      ) : null}
    </div>
  )
}

/** The height of `.older`, which stands above the virtual list. */
const OLDER_PX = 56

function ItemView({ item }: { item: Item }) {
  switch (item.kind) {
    case 'day':
      return <div className="day">{dayName(item.at)}</div>
    case 'new':
      return <NewLine />
    case 'said':
      return <Said row={item.row} more={item.more} />
    case 'unsent':
      return <UnsentMessage entry={item.entry} more={item.more} />
    case 'reply':
      return <AgentReply runId={item.runId} agentId={item.agentId} rows={item.rows} at={item.at} last={item.last} />
    case 'comparison':
      return <Comparison row={item.row} production={item.production} draft={item.draft} />
    case 'system':
      return <System row={item.row} />
  }
}

function NewLine() {
  const { t } = useTexts()
  return <div className="day new">{t('newLine')}</div>
}

function flash(scroller: HTMLElement | null, id: string): void {
  const target = scroller?.querySelector<HTMLElement>(
    `[data-message="${CSS.escape(id)}"],[data-part="${CSS.escape(id)}"]`,
  )
  const message = target?.closest<HTMLElement>('.msg')
  message?.focus()
  message?.classList.add('flash')
  setTimeout(() => message?.classList.remove('flash'), 1_600)
}

const steps: Record<string, number> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }

/** ↑ ↓ and J K go from message to message. */
function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const step = steps[event.key]
  if (!step || event.ctrlKey || event.metaKey || event.altKey) return
  const messages = [...event.currentTarget.querySelectorAll<HTMLElement>('.msg')]
  const here = messages.indexOf((document.activeElement as HTMLElement | null)?.closest('.msg') as HTMLElement)
  const next = here < 0 ? messages.at(-1) : messages[here + step]
  if (!next) return
  event.preventDefault()
  next.focus()
  next.scrollIntoView({ block: 'nearest' })
}
