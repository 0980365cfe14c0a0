import { Switch as Radix } from 'radix-ui'
import styles from './Switch.module.css'

interface SwitchProps {
  on: boolean
  onChange(on: boolean): void
  label: string
  disabled?: boolean
}

export function Switch({ on, onChange, label, disabled }: SwitchProps) {
  return (
    <Radix.Root
      className={styles.switch}
      checked={on}
      onCheckedChange={onChange}
      aria-label={label}
      disabled={disabled}
    />
  )
}
