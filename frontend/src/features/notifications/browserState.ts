/** Whether this browser shows notifications of this person. They choose it for each browser. */
import { useSyncExternalStore } from 'react'
import { observable } from '@/lib/observable'
import { onStoredElsewhere, readStored, writeStored } from '@/lib/storage'

/** `denied`: the browser blocks notifications of this site; only its own settings can change that. */
export type BrowserState = 'unsupported' | 'denied' | 'off' | 'on'

const KEY = 'atelier.browserNotifications'

/** Counts the choices that were made in this tab. */
const choices = observable(0)

function choose(isOn: boolean): void {
  writeStored(KEY, isOn)
  choices.set(choices.get() + 1)
}

function readState(): BrowserState {
  // Browsers offer them only to pages served over HTTPS or from this machine.
  if (!window.isSecureContext || !('Notification' in window)) return 'unsupported'
  if (Notification.permission === 'denied') return 'denied'
  return Notification.permission === 'granted' && readStored(KEY, false) ? 'on' : 'off'
}

/** Call the listener when the choice or the permission of the browser may have changed. Returns the unsubscribe function. */
function subscribe(listener: () => void): () => void {
  const stopped = new AbortController()
  const { signal } = stopped
  document.addEventListener('visibilitychange', listener, { signal })
  // Some browsers have no such query: they are asked again when the tab is shown.
  navigator.permissions?.query({ name: 'notifications' }).then(
    status => status.addEventListener('change', listener, { signal }),
    () => undefined,
  )
  const unsubscribe = [choices.subscribe(listener), onStoredElsewhere(KEY, listener)]
  return () => {
    stopped.abort()
    for (const end of unsubscribe) end()
  }
}

export const useBrowserState = (): BrowserState => useSyncExternalStore(subscribe, readState)

/** Asks for the permission of the browser, and stores the choice. Returns whether it is on. */
export async function switchOn(): Promise<boolean> {
  const isAllowed = (await Notification.requestPermission()) === 'granted'
  choose(isAllowed)
  return isAllowed
}

export const switchOff = () => choose(false)
