import type { ComponentProps, ReactNode } from 'react'
import { cx } from '@/lib/cx'

type Tone = 'plain' | 'ink' | 'good' | 'apply' | 'suggest' | 'bad' | 'flat'

interface ButtonProps extends Omit<ComponentProps<'button'>, 'disabled'> {
  tone?: Tone
  size?: 'xs' | 'lg'
  /** What is being done, e.g. "Saving v7": shown with an arc in place of the label. */
  busy?: ReactNode
  /** Why it cannot be pressed now. It stays in the tab order, so that the reason can be read. */
  blocked?: string | boolean
}

export function Button({ tone = 'plain', size, busy, blocked, className, children, onClick, ...rest }: ButtonProps) {
  const off = Boolean(blocked) || Boolean(busy)
  return (
    <button
      type="button"
      {...rest}
      className={cx('btn', tone !== 'plain' && tone, size, className)}
      aria-disabled={off || undefined}
      aria-busy={Boolean(busy) || undefined}
      title={typeof blocked === 'string' ? blocked : rest.title}
      onClick={event => (off ? event.preventDefault() : onClick?.(event))}
    >
      {busy ? (
        <>
          <i className="busy" />
          {busy}
        </>
      ) : (
        children
      )}
    </button>
  )
}

interface IconButtonProps extends ComponentProps<'button'> {
  label: string
  small?: boolean
}

/** A button that is only an icon; its label is read out and shown under the pointer. */
export function IconButton({ label, small, className, children, ...rest }: IconButtonProps) {
  return (
    <button type="button" aria-label={label} title={label} {...rest} className={cx('ib', small && 'xs', className)}>
      {children}
    </button>
  )
}
