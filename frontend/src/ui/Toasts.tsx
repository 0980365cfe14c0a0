import { X } from 'lucide-react'
import { Toast as Radix } from 'radix-ui'
import { useEffect, useRef } from 'react'
import { useActions } from '@/lib/actions'
import { useTexts } from '@/lib/language'
import { observable, usePart } from '@/lib/observable'
import { IconButton } from './Button'
import styles from './Toasts.module.css'

interface Action {
  label: string
  run(): void
}

interface Toast {
  id: number
  text: string
  action: Action | null
}

const toasts = observable<readonly Toast[]>([])
const whole = (value: readonly Toast[]) => value
const SHOWN_MS = 10_000
/** As many stand above each other; the oldest gives way, first those that offer nothing. */
const MAX_SHOWN = 3

let last = 0

const remove = (id: number) => toasts.set(toasts.get().filter(toast => toast.id !== id))

/** Show a text for a while; with an undo where there is one. A text that is shown already is shown anew, not twice. */
export function showToast(text: string, action?: Action): void {
  last += 1
  const others = toasts.get().filter(toast => toast.text !== text || toast.action)
  const all = [...others, { id: last, text, action: action ?? null }]
  const excess = all.length > MAX_SHOWN ? (all.slice(0, -1).find(toast => !toast.action) ?? all[0]) : null
  toasts.set(all.filter(toast => toast !== excess))
}

/** F8 leads to them. As long as the pointer or the focus is among them, none goes away. */
export function Toasts() {
  const { t } = useTexts()
  const shown = usePart(toasts, whole)
  const viewport = useRef<HTMLOListElement>(null)
  const cameFrom = useRef<HTMLElement | null>(null)
  useActions(() => ({
    'toast.focus': () => {
      const first = viewport.current?.querySelector<HTMLElement>('button')
      if (!first) return false
      cameFrom.current = document.activeElement as HTMLElement | null
      first.focus()
      return true
    },
  }))
  useEffect(() => {
    if (shown.length > 0) return
    const isLost = document.activeElement === document.body || document.activeElement === viewport.current
    if (isLost) cameFrom.current?.focus()
    cameFrom.current = null
  }, [shown.length])
  return (
    <Radix.Provider duration={SHOWN_MS} label={t('notice')} swipeDirection="down">
      {shown.map(toast => (
        <Radix.Root
          key={toast.id}
          className={styles.toast}
          type="background"
          onOpenChange={isOpen => isOpen || remove(toast.id)}
        >
          <Radix.Title className="grow">{toast.text}</Radix.Title>
          {toast.action ? (
            <Radix.Action altText={toast.action.label} onClick={toast.action.run}>
              {toast.action.label}
            </Radix.Action>
          ) : null}
          <Radix.Close asChild>
            <IconButton small label={t('closeToast')}>
              <X className="i s" />
            </IconButton>
          </Radix.Close>
        </Radix.Root>
      ))}
      {/* Its key is one of the table of actions. */}
      <Radix.Viewport ref={viewport} className={styles.toasts} hotkey={[]} label={t('toasts')} />
    </Radix.Provider>
  )
}
