import { X } from 'lucide-react'
import { Dialog as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { IconButton } from './Button'

interface DialogProps {
  open: boolean
  onOpenChange(open: boolean): void
  title: string
  /** Shown to everybody under the title. */
  description?: ReactNode
  children: ReactNode
  className?: string
}

/** A dialog in the middle of the screen. Radix's own overlay injects a style sheet, which the CSP refuses; ours is a plain scrim. */
export function Dialog({ open, onOpenChange, title, description, children, className }: DialogProps) {
  const { t } = useTexts()
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <div className="scrim" />
        <Radix.Content className={cx('dialog', className)} {...(description ? {} : { 'aria-describedby': undefined })}>
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
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

/** A bare dialog for the palette: its own head, its own look. */
export function BareDialog({ open, onOpenChange, title, children, className }: Omit<DialogProps, 'description'>) {
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <div className="scrim" />
        <Radix.Content className={className} aria-describedby={undefined}>
          <Radix.Title className="sr">{title}</Radix.Title>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
