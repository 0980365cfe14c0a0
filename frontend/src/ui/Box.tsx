import { Check, Minus } from 'lucide-react'

interface BoxProps {
  checked: boolean | 'mixed'
  label: string
  onChange(): void
}

/** A box to tick; its target is larger than it looks. */
export function Box({ checked, label, onChange }: BoxProps) {
  const Sign = checked === 'mixed' ? Minus : Check
  return (
    <span className="box" data-checked={checked || undefined}>
      <input
        type="checkbox"
        aria-label={label}
        checked={checked === true}
        ref={input => {
          if (input) input.indeterminate = checked === 'mixed'
        }}
        onChange={onChange}
      />
      <Sign className="i" aria-hidden />
    </span>
  )
}
