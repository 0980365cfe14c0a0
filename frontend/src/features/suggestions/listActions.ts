/** The keyboard actions of the list: move up and down, select. Enter is handled by the buttons. */
import type { RefObject } from 'react'
import { useActions } from '@/lib/actions'

const listRowElements = (list: HTMLElement) => [...list.querySelectorAll<HTMLElement>('[data-suggestion]')]
const isCurrent = (row: HTMLElement) => row.getAttribute('aria-current') === 'true'
const hasFocus = (row: HTMLElement) => row.closest('li')?.contains(document.activeElement) ?? false

function moveFocus(list: HTMLElement, step: 1 | -1): void {
  const rows = listRowElements(list)
  const at = rows.findIndex(hasFocus)
  const next = at < 0 ? Math.max(0, rows.findIndex(isCurrent)) : Math.min(rows.length - 1, Math.max(0, at + step))
  rows[next]?.focus()
}

/** Returns whether an arrow key was pressed outside the list, where it scrolls. Letter keys work on the whole screen. */
const isArrowElsewhere = (event: KeyboardEvent | undefined, list: HTMLElement) =>
  event?.key.startsWith('Arrow') && !list.contains(document.activeElement) && document.activeElement !== document.body

export function useListActions(list: RefObject<HTMLElement | null>, select: (id: string) => void): void {
  const move = (step: 1 | -1) => (event?: KeyboardEvent) => {
    if (!list.current || isArrowElsewhere(event, list.current)) return false
    moveFocus(list.current, step)
    return true
  }
  const selectFocused = () => {
    const rows = list.current ? listRowElements(list.current) : []
    const id = (rows.find(hasFocus) ?? rows.find(isCurrent))?.dataset['suggestion']
    if (id) select(id)
  }
  useActions(() => ({
    'suggestion.previous': move(-1),
    'suggestion.next': move(1),
    'suggestion.select': selectFocused,
  }))
}
