import { type KeyboardEvent, useEffect, useState } from 'react'
import { isComposing } from '@/lib/keys'
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
 * While typing, the text stays as it is. On blur, Enter, an arrow key or unmount, the number is clamped to `min` and `max` and reported.
 */
export function NumberField({ label, hint, value, min, max, step, isReadOnly, onChange }: NumberFieldProps) {
  const stored = value ?? null
  const [text, setText] = useState(formatPlain(stored))
  useEffect(() => setText(formatPlain(stored)), [stored])
  const clamp = (number: number) => Math.min(max, Math.max(min, round(number)))
  /** Returns the number of a text; the stored one if the text is no number. */
  const read = (typed: string): number | null => {
    const number = parseNumber(typed)
    return Number.isNaN(number) ? stored : number === null ? null : clamp(number)
  }
  const latest = useLatest({ typed: read(text), stored, onChange })
  const commit = (next: number | null) => {
    setText(formatPlain(next))
    if (next === latest.current.stored) return
    latest.current = { ...latest.current, typed: next, stored: next } // not reported again on blur or unmount
    onChange(next)
  }
  useEffect(
    () => () => {
      const last = latest.current
      if (last.typed !== last.stored) last.onChange(last.typed)
    },
    [],
  )
  const handleKey = (event: KeyboardEvent<HTMLInputElement>) => {
    if (isReadOnly || isComposing(event)) return
    if (event.key === 'Enter') commit(read(text))
    const direction = event.key === 'ArrowUp' ? 1 : event.key === 'ArrowDown' ? -1 : 0
    if (direction === 0) return
    event.preventDefault()
    const from = read(text)
    commit(clamp(from === null ? 0 : from + direction * step))
  }
  return (
    <Field label={label} hint={hint}>
      {attributes => (
        <input
          {...attributes}
          className={fieldStyles.input}
          inputMode="decimal"
          autoComplete="off"
          spellCheck={false}
          readOnly={isReadOnly}
          value={text}
          onChange={event => setText(event.target.value)}
          onBlur={() => commit(read(text))}
          onKeyDown={handleKey}
        />
      )}
    </Field>
  )
}

const MOST_DIGITS = 6

/** Rounds to the digits that are shown: 0.1 + 0.2 is 0.3. */
const round = (number: number) => Number(number.toFixed(MOST_DIGITS))

/** Formats a number without separators and without an exponent. */
const formatPlain = (number: number | null) => (number === null ? '' : String(round(number)))

/** Returns the number of a text, also of one with full-width digits or a decimal comma; null if it is empty, NaN if it is none. */
function parseNumber(text: string): number | null {
  const plain = text.normalize('NFKC').trim().replace(',', '.')
  return plain === '' ? null : Number(plain)
}
