/**
 * The log is one stop of the Tab key. In it the arrow keys go from message to message; Tab goes through what can be pressed in the
 * message that has the focus, and then on, out of the log.
 */
import { type FocusEvent, type KeyboardEvent, type RefObject, useCallback, useMemo, useRef, useState } from 'react'
import type { VirtualizerHandle } from 'virtua'
import { areLettersOn, isWriting } from '@/lib/keys'
import type { Item } from './timeline'
import { whenRendered } from './whenDrawn'

const isReachable = (item: Item | undefined) => item !== undefined && item.kind !== 'day' && item.kind !== 'new'

/** The next message from a place on in a direction; -1 where there is none. */
function nextAt(items: readonly Item[], from: number, step: 1 | -1): number {
  let at = from + step
  while (at >= 0 && at < items.length && !isReachable(items[at])) at += step
  return at < items.length ? at : -1
}

const frameOf = (node: EventTarget | null) =>
  node instanceof Element ? node.closest<HTMLElement>('[data-item]') : null

const indexOfKey = (items: readonly Item[], key: string | null | undefined) =>
  key ? items.findIndex(item => item.key === key) : -1

/** What takes the focus for a message. One that could not be drawn has a button instead. */
const rootOf = (frame: HTMLElement) => frame.querySelector<HTMLElement>('[data-message]') ?? controlsIn(frame)[0]

const CONTROLS = 'a[href], button, input, select, textarea, summary, [tabindex]:not([tabindex="-1"])'

const controlsIn = (frame: HTMLElement) =>
  [...frame.querySelectorAll<HTMLElement>(CONTROLS)].filter(
    control => control.tabIndex >= 0 && !control.matches(':disabled') && control.checkVisibility(),
  )

interface Roving {
  items: readonly Item[]
  scroller: RefObject<HTMLElement | null>
  virtual: RefObject<VirtualizerHandle | null>
}

export function useRovingFocus({ items, scroller, virtual }: Roving) {
  /** The message in which the focus is. */
  const [focused, setFocused] = useState<string | null>(null)
  const last = useRef<string | null>(null)
  /** A stop behind the log, for whoever comes from there. */
  const end = useRef<HTMLSpanElement>(null)
  /** The focus is on its way out: it is not led back in. */
  const isLeaving = useRef(false)

  const focusAt = useCallback(
    (at: number) => {
      const key = items[at]?.key
      if (key === undefined) return
      const find = () => {
        const frame = scroller.current?.querySelector<HTMLElement>(`[data-item="${CSS.escape(key)}"]`)
        return frame ? rootOf(frame) : undefined
      }
      if (!find()) virtual.current?.scrollToIndex(at, { align: 'nearest' })
      whenRendered(find, root => {
        root.focus({ preventScroll: true })
        root.scrollIntoView({ block: 'nearest' })
      })
    },
    [items, scroller, virtual],
  )

  /** Where the focus was last, if that is on the screen, else the newest that is. */
  const enter = useCallback(() => {
    const [log, list] = [scroller.current, virtual.current]
    if (!log || !list) return
    const top = list.findItemIndex(log.scrollTop)
    const bottom = list.findItemIndex(log.scrollTop + log.clientHeight - 1)
    const before = indexOfKey(items, last.current)
    focusAt(before >= top && before <= bottom ? before : nextAt(items, bottom + 1, -1))
  }, [items, scroller, virtual, focusAt])

  const onFocus = (event: FocusEvent<HTMLElement>) => {
    const frame = event.currentTarget.contains(event.target) ? frameOf(event.target) : null
    if (frame) {
      last.current = frame.dataset['item'] ?? null
      setFocused(last.current)
    } else if (event.target === event.currentTarget && !isLeaving.current && event.target.matches(':focus-visible'))
      enter()
  }
  const onBlur = (event: FocusEvent<HTMLElement>) => {
    const to = event.relatedTarget
    const isInside = event.currentTarget.contains(to)
    if (!isInside && to !== end.current) isLeaving.current = false
    setFocused(isInside ? (frameOf(to)?.dataset['item'] ?? null) : null)
  }

  /** From an edge of a message Tab leads out of the log, past all other messages: from the log's edge the browser finds the way. */
  const leave = (event: KeyboardEvent<HTMLElement>, frame: HTMLElement) => {
    const active = document.activeElement
    const controls = controlsIn(frame)
    if (!event.shiftKey && (controls.length === 0 || active === controls.at(-1))) {
      isLeaving.current = true
      end.current?.focus({ preventScroll: true })
    } else if (event.shiftKey && active === rootOf(frame)) {
      isLeaving.current = true
      event.currentTarget.focus({ preventScroll: true })
    } else if (event.shiftKey && active === controls[0]) {
      event.preventDefault()
      rootOf(frame)?.focus({ preventScroll: true })
    }
  }

  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (!event.currentTarget.contains(event.target as Node) || isWriting(event.nativeEvent)) return
    const frame = frameOf(document.activeElement)
    if (event.key === 'Tab' && frame) leave(event, frame)
    if (event.key === 'Tab' || hasAnyModifier(event)) return
    const to = targetOf(event.key, items, indexOfKey(items, frame?.dataset['item']))
    if (to === null && !(frame && actInside(event.key, frame))) return
    event.preventDefault()
    // Escape leads from here to the composer only once it has led back to the message.
    event.stopPropagation()
    focusAt(to ?? -1)
  }

  const at = useMemo(() => indexOfKey(items, focused), [items, focused])
  const tabIndex = focused === null ? 0 : -1
  return {
    /** What has the focus stays when it is scrolled out of sight: else the focus would go to the page's start. */
    keepMounted: useMemo(() => (at < 0 ? [] : [at]), [at]),
    log: { tabIndex, onFocus, onBlur, onKeyDown },
    end: {
      ref: end,
      tabIndex: items.some(isReachable) ? tabIndex : -1,
      onFocus: () => {
        if (!isLeaving.current) enter()
      },
      onBlur: () => {
        isLeaving.current = false
      },
    },
  }
}

const hasAnyModifier = (event: KeyboardEvent) => event.ctrlKey || event.metaKey || event.altKey || event.shiftKey

/** Where a key leads from a message: -1 nowhere, null if it is no such key. */
function targetOf(key: string, items: readonly Item[], at: number): number | null {
  const letter = areLettersOn() ? key : ''
  if (key === 'ArrowDown' || letter === 'j') return at < 0 ? nextAt(items, items.length, -1) : nextAt(items, at, 1)
  if (key === 'ArrowUp' || letter === 'k') return nextAt(items, at < 0 ? items.length : at, -1)
  if (key === 'End') return nextAt(items, items.length, -1)
  if (key === 'Home') return nextAt(items, -1, 1)
  return null
}

/** Enter goes into a message, Escape back to it; ← → go from action to action. */
function actInside(key: string, frame: HTMLElement): boolean {
  const active = document.activeElement as HTMLElement | null
  const root = rootOf(frame)
  if (key === 'Enter' && active === root) return openIn(frame)
  if (key === 'Escape' && active !== root) {
    root?.focus({ preventScroll: true })
    return true
  }
  const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0
  const bar = step ? active?.closest<HTMLElement>('[role=toolbar]') : null
  if (!bar || !active) return false
  const actions = controlsIn(bar)
  actions[(actions.indexOf(active) + step + actions.length) % actions.length]?.focus()
  return true
}

/** What a quiet line is about is opened; of a message the actions come first. */
function openIn(frame: HTMLElement): boolean {
  const about =
    frame.querySelector<HTMLElement>('[data-opens=change]') ?? frame.querySelector<HTMLElement>('[data-opens=subject]')
  const action = frame.querySelector<HTMLElement>('[role=toolbar] button') ?? controlsIn(frame)[0]
  if (about) about.click()
  else action?.focus()
  return Boolean(about ?? action)
}
