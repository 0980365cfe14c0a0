import { NumberField as Base } from '@base-ui/react/number-field'
import { type KeyboardEvent, useEffect, useState } from 'react'
import { useLatest } from '@/lib/latest'
import { Field } from '@/ui/Field'
import fieldStyles from '@/ui/Field.module.css'

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

/**
 * The field for a number. An empty field (null) means the default, or the choice of the provider.
 *
 * While typing, the text stays as it is. On blur, Enter or unmount, the number is clamped to `min` and `max` and reported.
 */
export function NumberField({ label, hint, value, min, max, step, isReadOnly, onChange }: NumberFieldProps) {
  const stored = value ?? null
  const [typed, setTyped] = useState(stored)
  useEffect(() => setTyped(stored), [stored])
  const commit = useCommit(typed, stored, onChange)
  return (
    <Field label={label} hint={hint}>
      {({ id, ...attributes }) => (
        <Base.Root
          id={id}
          value={typed}
          min={min}
          max={max}
          step={step}
          readOnly={isReadOnly}
          format={{ useGrouping: false, maximumFractionDigits: 6 }}
          onValueChange={setTyped}
          onValueCommitted={commit}
        >
          <Base.Input {...attributes} className={fieldStyles.input} onKeyDown={commitOnEnter} />
        </Base.Root>
      )}
    </Field>
  )
}

/** Base UI commits on blur but not on Enter. */
function commitOnEnter(event: KeyboardEvent<HTMLInputElement>): void {
  if (event.key !== 'Enter') return
  event.currentTarget.blur()
  event.currentTarget.focus()
}

/** Returns a function that reports a committed value. A value that is not committed yet is reported on unmount. */
function useCommit(typed: number | null, stored: number | null, onChange: (value: number | null) => void) {
  const latest = useLatest({ typed, stored, onChange })
  useEffect(
    () => () => {
      const last = latest.current
      if (last.typed !== last.stored) last.onChange(last.typed)
    },
    [],
  )
  return (next: number | null) => {
    latest.current = { ...latest.current, typed: next, stored: next } // not reported again on unmount
    if (next !== stored) onChange(next)
  }
}
