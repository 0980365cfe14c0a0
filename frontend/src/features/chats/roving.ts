/**
 * Keyboard navigation in the log, which has a single tab stop. The arrow keys move between messages; Tab moves through the
 * controls of the focused message, and then out of the log.
 */
import { type FocusEvent, type KeyboardEvent, type RefObject, useCallback, useMemo, useRef, useState } from 'react'
import type { VirtualizerHandle } from 'virtua'
import { areSingleKeysOn, hasAnyModifier, isInTextField } from '@/lib/keys'
import type { Item } from './timeline'
import { runWhenRendered } from './whenDrawn'

const isReachable = (item: Item | undefined) => item !== undefined && item.kind !== 'day' && item.kind !== 'new'

/** Finds the index of the next message in a direction; -1 if there is none. */
function findNextIndex(items: readonly Item[], from: number, step: 1 | -1): number {
  let at = from + step
  while (at >= 0 && at < items.length && !isReachable(items[at])) at += step
  return at < items.length ? at : -1
}

const findItemElement = (node: EventTarget | null) =>
  node instanceof Element ? node.closest<HTMLElement>('[data-item]') : null

const findKeyIndex = (items: readonly Item[], key: string | null | undefined) =>
  key ? items.findIndex(item => item.key === key) : -1

/** Returns the element that is focused for a message. A message that failed to render has a button instead. */
const getFocusTarget = (frame: HTMLElement) =>
  frame.querySelector<HTMLElement>('[data-message]') ?? listControls(frame)[0]

const CONTROLS = 'a[href], button, input, select, textarea, summary, [tabindex]:not([tabindex="-1"])'

const listControls = (frame: HTMLElement) =>
  [...frame.querySelectorAll<HTMLElement>(CONTROLS)].filter(
    control => control.tabIndex >= 0 && !control.matches(':disabled') && control.checkVisibility(),
  )

interface Roving {
  items: readonly Item[]
  scroller: RefObject<HTMLElement | null>
  virtual: RefObject<VirtualizerHandle | null>
}

export function useRovingFocus({ items, scroller, virtual }: Roving) {
  /** The key of the item that contains the focus. */
  const [focused, setFocused] = useState<string | null>(null)
  const last = useRef<string | null>(null)
  /** A tab stop after the log, for focus that arrives from there. */
  const end = useRef<HTMLSpanElement>(null)
  /** True while the focus leaves the log, so that it is not moved back in. */
  const isLeaving = useRef(false)

  const focusAt = useCallback(
    (at: number) => {
      const key = items[at]?.key
      if (key === undefined) return
      const find = () => {
        const frame = scroller.current?.querySelector<HTMLElement>(`[data-item="${CSS.escape(key)}"]`)
        return frame ? getFocusTarget(frame) : undefined
      }
      if (!find()) virtual.current?.scrollToIndex(at, { align: 'nearest' })
      runWhenRendered(find, root => {
        root.focus({ preventScroll: true })
        root.scrollIntoView({ block: 'nearest' })
      })
    },
    [items, scroller, virtual],
  )

  /** Focuses the last focused message if it is visible, else the newest visible one. */
  const enter = useCallback(() => {
    const [log, list] = [scroller.current, virtual.current]
    if (!log || !list) return
    const top = list.findItemIndex(log.scrollTop)
    const bottom = list.findItemIndex(log.scrollTop + log.clientHeight - 1)
    const before = findKeyIndex(items, last.current)
    focusAt(before >= top && before <= bottom ? before : findNextIndex(items, bottom + 1, -1))
  }, [items, scroller, virtual, focusAt])

  const onFocus = (event: FocusEvent<HTMLElement>) => {
    const frame = event.currentTarget.contains(event.target) ? findItemElement(event.target) : null
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
    setFocused(isInside ? (findItemElement(to)?.dataset['item'] ?? null) : null)
  }

  /**
   * Moves the focus to an edge of the log when Tab leaves a message, so that the browser continues outside the log.
   * Shift+Tab on the first control only returns to the message.
   */
  const leave = (event: KeyboardEvent<HTMLElement>, frame: HTMLElement) => {
    const active = document.activeElement
    const controls = listControls(frame)
    if (!event.shiftKey && (controls.length === 0 || active === controls.at(-1))) {
      isLeaving.current = true
      end.current?.focus({ preventScroll: true })
    } else if (event.shiftKey && active === getFocusTarget(frame)) {
      isLeaving.current = true
      event.currentTarget.focus({ preventScroll: true })
    } else if (event.shiftKey && active === controls[0]) {
      event.preventDefault()
      getFocusTarget(frame)?.focus({ preventScroll: true })
    }
  }

  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (!event.currentTarget.contains(event.target as Node) || isInTextField(event.nativeEvent)) return
    const frame = findItemElement(document.activeElement)
    if (event.key === 'Tab' && frame) leave(event, frame)
    if (event.key === 'Tab' || hasAnyModifier(event)) return
    const to = getTargetIndex(event.key, items, findKeyIndex(items, frame?.dataset['item']))
    if (to === null && !(frame && handleInnerKey(event.key, frame))) return
    event.preventDefault()
    // Escape first returns to the message; only the next Escape goes to the composer.
    event.stopPropagation()
    if (to !== null) focusAt(to)
  }

  const at = useMemo(() => findKeyIndex(items, focused), [items, focused])
  const tabIndex = focused === null ? 0 : -1
  return {
    /** The focused item stays mounted when it is scrolled out of view, because the focus would be lost otherwise. */
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

/** Returns the index to which a key moves; -1 for none, null if the key does not move. */
function getTargetIndex(key: string, items: readonly Item[], at: number): number | null {
  const letter = areSingleKeysOn() ? key : ''
  if (key === 'ArrowDown' || letter === 'j')
    return at < 0 ? findNextIndex(items, items.length, -1) : findNextIndex(items, at, 1)
  if (key === 'ArrowUp' || letter === 'k') return findNextIndex(items, at < 0 ? items.length : at, -1)
  if (key === 'End') return findNextIndex(items, items.length, -1)
  if (key === 'Home') return findNextIndex(items, -1, 1)
  return null
}

/** Handles a key in a message: Enter goes to its controls, Escape back to it, ← → between actions. Returns whether it did. */
function handleInnerKey(key: string, frame: HTMLElement): boolean {
  const active = document.activeElement as HTMLElement | null
  const root = getFocusTarget(frame)
  if (key === 'Enter' && active === root) return openOrFocusAction(frame)
  if (key === 'Escape' && active !== root) {
    root?.focus({ preventScroll: true })
    return true
  }
  const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0
  const bar = step ? active?.closest<HTMLElement>('[role=toolbar]') : null
  if (!bar || !active) return false
  const actions = listControls(bar)
  actions[(actions.indexOf(active) + step + actions.length) % actions.length]?.focus()
  return true
}

/** Opens the subject of a system message, or focuses the first action of a message. Returns whether there was one. */
function openOrFocusAction(frame: HTMLElement): boolean {
  const subject =
    frame.querySelector<HTMLElement>('[data-opens=change]') ?? frame.querySelector<HTMLElement>('[data-opens=subject]')
  const action = frame.querySelector<HTMLElement>('[role=toolbar] button') ?? listControls(frame)[0]
  if (subject) subject.click()
  else action?.focus()
  return Boolean(subject ?? action)
}
