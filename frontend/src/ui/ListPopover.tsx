import { X } from 'lucide-react'
import { Dialog, Popover } from 'radix-ui'
import type { ReactNode } from 'react'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { IconButton } from './Button'
import styles from './ListPopover.module.css'
import menuStyles from './Menu.module.css'
import { useIsPhone } from './useIsPhone'

interface ListPopoverProps {
  title: string
  trigger: ReactNode
  open: boolean
  onOpenChange(open: boolean): void
  align: 'start' | 'end'
  /** Buttons beside the title. */
  actions?: ReactNode
  children: ReactNode
}

/** A list with a title in a popover, on a phone in a full-screen dialog. */
export function ListPopover({ title, trigger, open, onOpenChange, align, actions, children }: ListPopoverProps) {
  const { t } = useTexts()
  const isPhone = useIsPhone()
  if (isPhone)
    return (
      <Dialog.Root open={open} onOpenChange={onOpenChange}>
        <Dialog.Trigger asChild>{trigger}</Dialog.Trigger>
        <Dialog.Portal>
          <Dialog.Content className={cx(styles.panel, styles.fullScreen)} aria-describedby={undefined}>
            <header>
              <Dialog.Title asChild>
                <h2>{title}</h2>
              </Dialog.Title>
              {actions}
              <Dialog.Close asChild>
                <IconButton label={t('close')}>
                  <X className="i" />
                </IconButton>
              </Dialog.Close>
            </header>
            {children}
          </Dialog.Content>
        </Dialog.Portal>
      </Dialog.Root>
    )
  return (
    <Popover.Root open={open} onOpenChange={onOpenChange}>
      <Popover.Trigger asChild>{trigger}</Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          className={cx(menuStyles.pop, styles.panel)}
          align={align}
          sideOffset={6}
          collisionPadding={8}
          aria-label={title}
        >
          <header>
            <h2>{title}</h2>
            {actions}
          </header>
          {children}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}
