import { X } from 'lucide-react'
import { Toast as Radix } from 'radix-ui'
import { useEffect, useRef } from 'react'
import { useActions } from '@/lib/actions'
import { useTexts } from '@/lib/language'
import { useSelector } from '@/lib/observable'
import { IconButton } from './Button'
import styles from './Toasts.module.css'
import { leaveEscape, removeToast, toasts } from './toast'

/** A text that needs no answer is read quickly; one that can be undone stays longer. */
const DURATION_MS = 4_000
const DURATION_WITH_ACTION_MS = 10_000

/** The shown toasts. F8 moves the focus to them and back. They stay as long as the pointer or the focus is on one of them. */
export function ToastList() {
  const { t } = useTexts()
  const list = useSelector(toasts, value => value) ?? []
  const viewport = useRef<HTMLOListElement>(null)
  const cameFrom = useRef<HTMLElement | null>(null)
  useActions(() => ({
    'toast.focus': () => {
      if (viewport.current?.contains(document.activeElement)) {
        cameFrom.current?.focus()
        return true
      }
      const first = viewport.current?.querySelector<HTMLElement>('button')
      if (!first) return false
      cameFrom.current = document.activeElement as HTMLElement | null
      first.focus()
      return true
    },
  }))
  useEffect(() => {
    if (list.length > 0) return
    const isLost = document.activeElement === document.body || document.activeElement === viewport.current
    if (isLost) cameFrom.current?.focus()
    cameFrom.current = null
  }, [list.length])
  return (
    <Radix.Provider label={t('notice')} swipeDirection="down">
      {list.map(toast => (
        <Radix.Root
          key={toast.id}
          className={styles.toast}
          type="background"
          duration={toast.action ? DURATION_WITH_ACTION_MS : DURATION_MS}
          onEscapeKeyDown={event => {
            if (!viewport.current?.contains(document.activeElement)) leaveEscape(event)
          }}
          onOpenChange={isOpen => isOpen || removeToast(toast.id)}
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
      {/* No `hotkey`: the key is that of the action 'toast.focus' in `lib/actions.ts`. */}
      <Radix.Viewport ref={viewport} className={styles.toasts} hotkey={[]} label={t('toasts')} />
    </Radix.Provider>
  )
}
