import { ChevronDown } from 'lucide-react'
import type { ReactNode } from 'react'
import { cx } from '@/lib/cx'
import fieldStyles from './Field.module.css'
import styles from './FilterSelect.module.css'

interface FilterSelectProps {
  label: string
  value: string
  children: ReactNode
  onChange(value: string): void
}

/** A select of a filter or an order of a list. Its children are the options. */
export function FilterSelect({ label, value, children, onChange }: FilterSelectProps) {
  return (
    <span className={cx(fieldStyles.select, styles.filter)}>
      <select aria-label={label} value={value} onChange={event => onChange(event.target.value)}>
        {children}
      </select>
      <ChevronDown className="i s faint" aria-hidden />
    </span>
  )
}
