import type { ComponentProps, ReactNode } from 'react'
import { cx } from '@/lib/cx'
import styles from './Button.module.css'
import { Spinner } from './Spinner'
import { Tooltip } from './Tooltip'

type Tone = 'plain' | 'ink' | 'good' | 'amber' | 'violet' | 'bad' | 'flat'

interface ButtonProps extends Omit<ComponentProps<'button'>, 'disabled'> {
  tone?: Tone
  size?: 'xs' | 'lg'
  /** The running action, such as "Saving v7", shown with a spinner in place of the label. */
  busy?: ReactNode
  /** Why the button is disabled; true: without a reason. The button stays in the tab order, so that the reason can be read. */
  blocked?: string | boolean
}

export function Button({ tone = 'plain', size, busy, blocked, className, children, onClick, ...rest }: ButtonProps) {
  const isDisabled = Boolean(blocked) || Boolean(busy)
  const reason = typeof blocked === 'string' ? blocked : null
  const button = (
    <button
      type="button"
      {...rest}
      data-slot="button"
      data-size={size}
      className={cx(styles.btn, tone !== 'plain' && styles[tone], size && styles[size], className)}
      aria-disabled={isDisabled || undefined}
      aria-busy={Boolean(busy) || undefined}
      title={reason ? undefined : rest.title}
      aria-description={reason ?? undefined}
      onClick={event => (isDisabled ? event.preventDefault() : onClick?.(event))}
    >
      {busy ? (
        <>
          <Spinner />
          {busy}
        </>
      ) : (
        children
      )}
    </button>
  )
  // A button either always or never has the prop, so it is not remounted and keeps its focus.
  return blocked === undefined ? button : <Tooltip text={reason}>{button}</Tooltip>
}

interface IconButtonProps extends ComponentProps<'button'> {
  label: string
  small?: boolean
}

/** A button with only an icon. Its label is shown on hover and read by screen readers. */
export function IconButton({ label, small, className, children, ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      {...rest}
      data-slot="icon-button"
      className={cx(styles.ib, small && styles.xs, className)}
    >
      {children}
    </button>
  )
}
