import { X } from 'lucide-react'
import { Dialog as Radix } from 'radix-ui'
import { FocusScope } from 'radix-ui/internal'
import { type ReactNode, useState } from 'react'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { useSelector } from '@/lib/observable'
import { Boundary } from './Boundary'
import { IconButton } from './Button'
import styles from './Dialog.module.css'
import { closeByLeftEscape, toastRegion } from './toast'

interface DialogProps {
  open: boolean
  onOpenChange(open: boolean): void
  title: string
  /** Shown below the title. */
  description?: ReactNode
  children: ReactNode
  className?: string
}

/**
 * Returns a handler that restores the focus when the dialog is closed, unless the focus has moved elsewhere. Radix
 * restores it only to a trigger of its own, which our dialogs do not have.
 */
function useRestoreFocus(isOpen: boolean): (event: Event) => void {
  const [wasOpen, setWasOpen] = useState(false)
  const [opener, setOpener] = useState<Element | null>(null)
  if (isOpen !== wasOpen) {
    setWasOpen(isOpen)
    // Read during rendering, because a field of the dialog may take the focus as soon as it is mounted.
    if (isOpen) setOpener(document.activeElement)
  }
  return event => {
    event.preventDefault()
    if (document.activeElement === document.body && opener instanceof HTMLElement) opener.focus()
  }
}

/** Inside a dialog: lets the focus move to the toasts, so that they can be used while the dialog is open. */
function ToastFocus() {
  const region = useSelector(toastRegion, element => element)
  FocusScope.useFocusScopeBranch(region)
  return null
}

/** A modal dialog. It has its own overlay, because the one of Radix injects a style sheet, which the CSP blocks. */
export function Dialog({ open, onOpenChange, title, description, children, className }: DialogProps) {
  const { t } = useTexts()
  const onCloseAutoFocus = useRestoreFocus(open)
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <div className={styles.scrim} />
        <Radix.Content
          className={cx(styles.dialog, className)}
          onCloseAutoFocus={onCloseAutoFocus}
          onKeyDown={closeByLeftEscape(() => onOpenChange(false))}
          {...(description ? {} : { 'aria-describedby': undefined })}
        >
          <header>
            <Radix.Title asChild>
              <h2>{title}</h2>
            </Radix.Title>
            <Radix.Close asChild>
              <IconButton label={t('close')}>
                <X className="i" />
              </IconButton>
            </Radix.Close>
          </header>
          {description ? <Radix.Description className="muted sm">{description}</Radix.Description> : null}
          <Boundary>{children}</Boundary>
          <ToastFocus />
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

/** A modal dialog without header and styles, for the palette. */
export function BareDialog({ open, onOpenChange, title, children, className }: Omit<DialogProps, 'description'>) {
  const onCloseAutoFocus = useRestoreFocus(open)
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <div className={styles.scrim} />
        <Radix.Content
          className={className}
          onCloseAutoFocus={onCloseAutoFocus}
          onKeyDown={closeByLeftEscape(() => onOpenChange(false))}
          aria-describedby={undefined}
        >
          <Radix.Title className="sr">{title}</Radix.Title>
          <Boundary>{children}</Boundary>
          <ToastFocus />
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
