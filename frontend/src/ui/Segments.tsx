import { ToggleGroup } from 'radix-ui'
import type { ReactNode } from 'react'
import { cx } from '@/lib/cx'
import styles from './Segments.module.css'

interface SegmentsProps<T extends string> {
  label: string
  value: T
  options: readonly { value: NoInfer<T>; label: ReactNode }[]
  onChange(value: NoInfer<T>): void
  className?: string
}

/** A choice of one of a few options, which are all shown. The arrow keys move between them. */
export function Segments<T extends string>({ label, value, options, onChange, className }: SegmentsProps<T>) {
  return (
    <ToggleGroup.Root
      type="single"
      data-slot="segments"
      className={cx(styles.seg, className)}
      aria-label={label}
      value={value}
      // Clicking the chosen option again yields an empty value, which is ignored.
      onValueChange={next => next && onChange(next as T)}
    >
      {options.map(option => (
        <ToggleGroup.Item key={option.value} value={option.value}>
          {option.label}
        </ToggleGroup.Item>
      ))}
    </ToggleGroup.Root>
  )
}
