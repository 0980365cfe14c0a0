import { type KeyboardEvent, useState } from 'react'
import type { WorkshopView } from './LayerBar'

/** Holds the view and the tab. The view `rebase` falls back to `write` when the draft is no longer stale. */
export function useView(isStale: boolean) {
  const [chosenView, setView] = useState<WorkshopView>('write')
  const [tab, setTab] = useState('prompt')
  const openView = (next: WorkshopView) => {
    setView(next)
    setTab('prompt')
  }
  const view: WorkshopView = chosenView === 'rebase' && !isStale ? 'write' : chosenView
  // Without the tab: who saves on another tab stays there.
  const closeRebase = () => setView(before => (before === 'rebase' ? 'write' : before))
  return { view, tab, openView, setTab, closeRebase }
}

/**
 * Returns whether a key pressed in the workshop applies the draft. Keys in its dialogs bubble through React, too, and the
 * editor of the prompt has handled its own.
 */
export const isApplyShortcut = (event: KeyboardEvent<HTMLElement>): boolean =>
  event.key === 'Enter' &&
  (event.ctrlKey || event.metaKey) &&
  !event.defaultPrevented &&
  event.target instanceof Node &&
  event.currentTarget.contains(event.target)
