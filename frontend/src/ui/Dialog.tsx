import { X } from 'lucide-react'
import { Dialog as Radix } from 'radix-ui'
import { type ReactNode, useState } from 'react'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { Boundary } from './Boundary'
import { IconButton } from './Button'
import styles from './Dialog.module.css'

interface DialogProps {
  open: boolean
  onOpenChange(open: boolean): void
  title: string
  /** Shown to everybody under the title. */
  description?: ReactNode
  children: ReactNode
  className?: string
}

/** Give the focus back to where it was when the dialog was opened, unless it has gone elsewhere: our dialogs have no trigger of Radix. */
function useFocusBack(isOpen: boolean): (event: Event) => void {
  const [wasOpen, setWasOpen] = useState(false)
  const [opener, setOpener] = useState<Element | null>(null)
  if (isOpen !== wasOpen) {
    setWasOpen(isOpen)
    // While drawing: a field of the dialog may take the focus as soon as it is there.
    if (isOpen) setOpener(document.activeElement)
  }
  return event => {
    event.preventDefault()
    if (document.activeElement === document.body && opener instanceof HTMLElement) opener.focus()
  }
}

/** A dialog in the middle of the screen. Radix's own overlay injects a style sheet, which the CSP refuses; ours is a plain scrim. */
export function Dialog({ open, onOpenChange, title, description, children, className }: DialogProps) {
  const { t } = useTexts()
  const onCloseAutoFocus = useFocusBack(open)
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <div className={styles.scrim} />
        <Radix.Content
          className={cx(styles.dialog, className)}
          onCloseAutoFocus={onCloseAutoFocus}
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
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

/** A bare dialog for the palette: its own head, its own look. */
export function BareDialog({ open, onOpenChange, title, children, className }: Omit<DialogProps, 'description'>) {
  const onCloseAutoFocus = useFocusBack(open)
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <div className={styles.scrim} />
        <Radix.Content className={className} onCloseAutoFocus={onCloseAutoFocus} aria-describedby={undefined}>
          <Radix.Title className="sr">{title}</Radix.Title>
          <Boundary>{children}</Boundary>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
