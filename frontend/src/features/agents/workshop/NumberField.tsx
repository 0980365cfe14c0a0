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
 * A number, or nothing: then the provider (or the default) decides.
 *
 * What is typed stays as it is typed; it is brought between `min` and `max` and reported when the field is left, at Enter, or when
 * the field goes away.
 */
export function NumberField({ label, hint, value, min, max, step, isReadOnly, onChange }: NumberFieldProps) {
  const stored = value ?? null
  const [typed, setTyped] = useState(stored)
  useEffect(() => setTyped(stored), [stored])
  const commit = useCommitOnLeaving(typed, stored, onChange)
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
          <Base.Input {...attributes} className={fieldStyles.input} onKeyDown={commitAtEnter} />
        </Base.Root>
      )}
    </Field>
  )
}

/** Base UI commits when the field is left, not at Enter. */
function commitAtEnter(event: KeyboardEvent<HTMLInputElement>): void {
  if (event.key !== 'Enter') return
  event.currentTarget.blur()
  event.currentTarget.focus()
}

/** Report a committed value, also one that was typed in a field that is taken off the screen before it is left. */
function useCommitOnLeaving(typed: number | null, stored: number | null, onChange: (value: number | null) => void) {
  const latest = useLatest({ typed, stored, onChange })
  useEffect(
    () => () => {
      const last = latest.current
      if (last.typed !== last.stored) last.onChange(last.typed)
    },
    [],
  )
  return (next: number | null) => {
    latest.current = { ...latest.current, typed: next, stored: next }
    if (next !== stored) onChange(next)
  }
}
