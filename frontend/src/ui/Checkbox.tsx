import { Check, Minus } from 'lucide-react'
import { Checkbox as Radix } from 'radix-ui'
import styles from './Checkbox.module.css'

interface CheckboxProps {
  checked: boolean | 'mixed'
  label: string
  onChange(): void
}

/** A checkbox. Its click target is larger than the box. */
export function Checkbox({ checked, label, onChange }: CheckboxProps) {
  const Sign = checked === 'mixed' ? Minus : Check
  return (
    <Radix.Root
      data-slot="checkbox"
      className={styles.box}
      aria-label={label}
      checked={checked === 'mixed' ? 'indeterminate' : checked}
      onCheckedChange={onChange}
    >
      <Sign className="i" aria-hidden />
    </Radix.Root>
  )
}
