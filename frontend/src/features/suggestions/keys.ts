/** The keys of the list: J K ↑ ↓ go, X picks. Enter is the button's own. */
import { type RefObject, useEffect } from 'react'
import { isWriting, LETTERS } from '@/lib/keys'
import { kept } from '@/lib/stored'

const steps: Record<string, 1 | -1> = { j: 1, k: -1, ArrowDown: 1, ArrowUp: -1 }

/** Letters act anywhere on the screen; arrows only in the list, since elsewhere they scroll. */
function isOurs(event: KeyboardEvent, list: HTMLElement): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || isWriting(event)) return false
  if (document.querySelector('[role=dialog], [role=menu]')) return false
  if (event.key.length === 1) return kept(LETTERS, true)
  return list.contains(document.activeElement) || document.activeElement === document.body
}

const rowsOf = (list: HTMLElement) => [...list.querySelectorAll<HTMLElement>('[data-suggestion]')]

function move(list: HTMLElement, step: 1 | -1): void {
  const rows = rowsOf(list)
  const at = rows.findIndex(row => row.closest('li')?.contains(document.activeElement))
  const open = rows.findIndex(row => row.getAttribute('aria-current') === 'true')
  const next = at < 0 ? Math.max(0, open) : Math.min(rows.length - 1, Math.max(0, at + step))
  rows[next]?.focus()
}

function pickHere(list: HTMLElement, pick: (id: string) => void): void {
  const rows = rowsOf(list)
  const here =
    rows.find(row => row.closest('li')?.contains(document.activeElement)) ??
    rows.find(row => row.getAttribute('aria-current') === 'true')
  if (here?.dataset['suggestion']) pick(here.dataset['suggestion'])
}

export function useListKeys(list: RefObject<HTMLElement | null>, pick: (id: string) => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!list.current || !isOurs(event, list.current)) return
      const step = steps[event.key]
      if (step) move(list.current, step)
      else if (event.key === 'x') pickHere(list.current, pick)
      else return
      event.preventDefault()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [list, pick])
}
