import { TextField } from '@/ui/Field'

interface NumberFieldProps {
  label: string
  hint: string
  value: number | null | undefined
  min: number
  max: number
  step: number
  isReadOnly: boolean
  onChange(value: number | null): void
}

/** A number, or nothing: then the provider (or the default) decides. */
export function NumberField({ label, hint, value, min, max, step, isReadOnly, onChange }: NumberFieldProps) {
  const read = (text: string) => {
    const number = Number(text)
    if (text === '') onChange(null)
    else if (Number.isFinite(number)) onChange(Math.min(max, Math.max(min, number)))
  }
  return (
    <TextField
      label={label}
      hint={hint}
      type="number"
      inputMode="decimal"
      min={min}
      max={max}
      step={step}
      readOnly={isReadOnly}
      value={value ?? ''}
      onChange={read}
    />
  )
}
