import { DropdownMenu as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import { cx } from '@/lib/cx'
import styles from './Menu.module.css'

interface MenuProps {
  trigger: ReactNode
  children: ReactNode
  align?: 'start' | 'end'
  label?: string
  isInitiallyOpen?: boolean
  /** Moves the focus when the menu is closed; without it, the trigger is focused. */
  onClosed?(): void
}

/** A dropdown menu. It is not modal, because the scroll lock of Radix injects a style sheet, which the CSP blocks. */
export function Menu({ trigger, children, align = 'start', label, isInitiallyOpen = false, onClosed }: MenuProps) {
  return (
    <Radix.Root modal={false} defaultOpen={isInitiallyOpen}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          className={cx(styles.pop, styles.menu)}
          align={align}
          sideOffset={4}
          collisionPadding={8}
          aria-label={label}
          onCloseAutoFocus={event => {
            if (!onClosed) return
            event.preventDefault()
            onClosed()
          }}
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

interface MenuItemProps {
  onSelect(): void
  children: ReactNode
  bad?: boolean
}

export function MenuItem({ onSelect, children, bad }: MenuItemProps) {
  return (
    <Radix.Item className={cx(styles.opt, bad && 'no')} onSelect={onSelect}>
      {children}
    </Radix.Item>
  )
}

export const MenuCaption = ({ children }: { children: ReactNode }) => (
  <Radix.Label className={styles.cap}>{children}</Radix.Label>
)
export const MenuSeparator = () => <Radix.Separator className={styles.menuLine} />
