/** After a deploy, a page that was open before asks for files that are gone: loading the page anew brings the new ones. */
import { canStore } from './storage'

/** What browsers say of a file of the app that is not there. They say the same when the network is down. */
export const isMissingFile = (error: unknown) =>
  error instanceof Error && /dynamically imported module|importing a module script failed/i.test(error.message)

const RELOADED = 'atelier.renewed'
/** So long after a reload that did not help, the page does not reload by itself again. */
const RELOAD_INTERVAL_MS = 300_000

/** Takes the one reload by itself that is due in a while. Without a memory of it there is none: it might never end. */
export function claimReload(now: number, memory: Pick<Storage, 'getItem' | 'setItem'>): boolean {
  try {
    const since = now - Number(memory.getItem(RELOADED) ?? Number.NEGATIVE_INFINITY)
    if (since >= 0 && since < RELOAD_INTERVAL_MS) return false
    memory.setItem(RELOADED, String(now))
    return true
  } catch {
    return false
  }
}

const FIELDS =
  'textarea:not([readonly]), input:not([readonly], [type=checkbox], [type=radio], [type=hidden]), [contenteditable=true]'

/** Whether something is written that would be gone after a reload; what is marked `data-kept` comes back by itself. */
export function hasUnsavedInput(page: ParentNode, keeps: boolean): boolean {
  const text = (field: HTMLElement) => ('value' in field ? String(field.value) : (field.textContent ?? ''))
  const fields = [...page.querySelectorAll<HTMLElement>(FIELDS)]
  return fields.some(field => text(field) !== '' && !(keeps && field.closest('[data-kept]')))
}

/** A page that cannot be had again must not be given away. */
const isServed = () =>
  fetch(location.pathname, { cache: 'no-store' }).then(
    answer => answer.ok,
    () => false,
  )

/** Loads the page anew when that may help and costs nobody a word. False when it does not. */
export async function reloadOnce(): Promise<boolean> {
  if (!(await isServed()) || hasUnsavedInput(document, canStore()) || !claimReload(Date.now(), sessionStorage))
    return false
  location.reload()
  return true
}
