/** Reloads a page after a deploy: a page that was opened before requests files that no longer exist. */
import { canStore } from './storage'

/** Returns whether an error means that a file of the app is missing. Browsers report the same error when the network is down. */
export const isMissingFile = (error: unknown) =>
  error instanceof Error && /dynamically imported module|importing a module script failed/i.test(error.message)

const RELOAD_TIME_KEY = 'atelier.reloaded'
/** Least time between two automatic reloads, in ms. */
const RELOAD_INTERVAL_MS = 300_000

/** Claims an automatic reload. Returns false within `RELOAD_INTERVAL_MS` of the last one or without storage, to prevent a loop. */
export function claimReload(now: number, storage: Pick<Storage, 'getItem' | 'setItem'>): boolean {
  try {
    const since = now - Number(storage.getItem(RELOAD_TIME_KEY) ?? Number.NEGATIVE_INFINITY)
    if (since >= 0 && since < RELOAD_INTERVAL_MS) return false
    storage.setItem(RELOAD_TIME_KEY, String(now))
    return true
  } catch {
    return false
  }
}

const FIELDS =
  'textarea:not([readonly]), input:not([readonly], [type=checkbox], [type=radio], [type=hidden]), [contenteditable=true]'

/** Returns whether a reload would lose input. `canKeep`: input inside `data-kept` is restored, because the browser can store it. */
export function hasUnsavedInput(page: ParentNode, canKeep: boolean): boolean {
  const text = (field: HTMLElement) => ('value' in field ? String(field.value) : (field.textContent ?? ''))
  const fields = [...page.querySelectorAll<HTMLElement>(FIELDS)]
  return fields.some(field => text(field) !== '' && !(canKeep && field.closest('[data-kept]')))
}

/** Returns whether the server responds; otherwise a reload would lose the page. */
const isServed = () =>
  fetch(location.pathname, { cache: 'no-store' }).then(
    response => response.ok,
    () => false,
  )

/** Reloads the page if that may help and loses no input. Returns whether it does. */
export async function reloadOnce(): Promise<boolean> {
  if (!(await isServed()) || hasUnsavedInput(document, canStore()) || !claimReload(Date.now(), sessionStorage))
    return false
  location.reload()
  return true
}
