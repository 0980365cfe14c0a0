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

/** What the browser permits, which changes by itself; null until it has answered, and where it cannot be asked. */
let status: PermissionStatus | null = null

function readState(): BrowserState {
  // Browsers offer them only to pages served over HTTPS or from this machine.
  if (!window.isSecureContext || !('Notification' in window)) return 'unsupported'
  const permission = status?.state ?? Notification.permission
  if (permission === 'denied') return 'denied'
  return permission === 'granted' && readStored(KEY, false) ? 'on' : 'off'
}

/** Call the listener when the choice or the permission of the browser may have changed. Returns the unsubscribe function. */
function subscribe(listener: () => void): () => void {
  const stopped = new AbortController()
  const { signal } = stopped
  document.addEventListener('visibilitychange', listener, { signal })
  navigator.permissions?.query({ name: 'notifications' }).then(
    found => {
      status = found
      found.addEventListener('change', listener, { signal })
      listener()
    },
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
