import { X } from 'lucide-react'
import { Suspense } from 'react'
import { useTexts } from '@/lib/language'
import { useSelector } from '@/lib/observable'
import { IconButton } from './Button'
import { lazy } from './lazy'
import styles from './Toasts.module.css'
import { removeToast, toastRegion, toasts } from './toast'

const ToastList = lazy(() => import('./ToastList').then(module => ({ default: module.ToastList })), {
  fallback: LatestToast,
})

/** The list of toasts, which is loaded with the first of them. */
export function Toasts() {
  const isUsed = useSelector(toasts, list => list !== null)
  return (
    // A modal dialog hides the rest of the page from screen readers, except elements that have `aria-live`, whatever its value.
    <div ref={toastRegion.set} aria-live="off">
      {isUsed ? (
        <Suspense>
          <ToastList />
        </Suspense>
      ) : null}
    </div>
  )
}

/** Used when the list could not be loaded: "No connection" itself may be the first toast. */
function LatestToast() {
  const { t } = useTexts()
  const latest = useSelector(toasts, list => list?.at(-1) ?? null)
  return (
    <div className={styles.toasts} role="status">
      {latest ? (
        <div className={styles.toast}>
          <span className="grow">{latest.text}</span>
          <IconButton small label={t('closeToast')} onClick={() => removeToast(latest.id)}>
            <X className="i s" />
          </IconButton>
        </div>
      ) : null}
    </div>
  )
}
