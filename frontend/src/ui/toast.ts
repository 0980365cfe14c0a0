import { observable } from '@/lib/observable'

interface Action {
  label: string
  run(): void
}

interface Toast {
  id: number
  text: string
  action: Action | null
}

/** The maximal number of toasts. Beyond it, the oldest is removed, first those without an action. */
const MAX_TOASTS = 3

/** Null until the first toast is shown. */
export const toasts = observable<readonly Toast[] | null>(null)

/** The element that contains the toasts. An open dialog lets the focus move to it. */
export const toastRegion = observable<HTMLElement | null>(null)

/**
 * Presses of Escape that the newest toast leaves to the dialog, menu or list below it. Radix gives the key only to the layer that was
 * opened last, and a toast is such a layer, too.
 */
const leftEscapes = new WeakSet<Event>()

export function leaveEscape(event: KeyboardEvent): void {
  leftEscapes.add(event)
  event.preventDefault()
}

/** Returns a key handler for the content of a layer, which closes it by Escape when a toast has left it the key. */
export const closeByLeftEscape = (onClose: () => void) => (event: { nativeEvent: KeyboardEvent }) => {
  if (leftEscapes.delete(event.nativeEvent)) onClose()
}

let lastId = 0

/** Shows a text for a while, with an action such as undo. A text that is shown without an action is not shown twice. Returns its id. */
export function showToast(text: string, action?: Action): number {
  const id = ++lastId
  const others = (toasts.get() ?? []).filter(toast => toast.text !== text || toast.action)
  const stack = [...others, { id, text, action: action ?? null }]
  const excess = stack.length > MAX_TOASTS ? (stack.slice(0, -1).find(toast => !toast.action) ?? stack[0]) : null
  toasts.set(stack.filter(toast => toast !== excess))
  return id
}

export const removeToast = (id: number) => toasts.set((toasts.get() ?? []).filter(toast => toast.id !== id))
