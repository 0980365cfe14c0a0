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

/** As many stand above each other; the oldest gives way, first those that offer nothing. */
const MAX_TOASTS = 3

/** Null until the first toast is shown. */
export const toasts = observable<readonly Toast[] | null>(null)

let lastId = 0

/** Show a text for a while, with an undo where there is one. A text that is already on the screen is shown anew, not twice. */
export function showToast(text: string, action?: Action): void {
  lastId += 1
  const others = (toasts.get() ?? []).filter(toast => toast.text !== text || toast.action)
  const all = [...others, { id: lastId, text, action: action ?? null }]
  const excess = all.length > MAX_TOASTS ? (all.slice(0, -1).find(toast => !toast.action) ?? all[0]) : null
  toasts.set(all.filter(toast => toast !== excess))
}

export const removeToast = (id: number) => toasts.set((toasts.get() ?? []).filter(toast => toast.id !== id))
