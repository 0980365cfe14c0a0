import { CircleAlert } from 'lucide-react'
import { type ComponentProps, type ReactNode, useId } from 'react'
import { cx } from '@/lib/cx'

interface FieldProps {
  label: string
  hint?: ReactNode
  error?: string | null
  /** Draws the control; spread the given attributes on it. */
  children(attributes: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: true }): ReactNode
}

/** Label above, control, then a hint or what is wrong with it. */
export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId()
  const note = error || hint ? `${id}-note` : undefined
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        ...(note ? { 'aria-describedby': note } : {}),
        ...(error ? { 'aria-invalid': true as const } : {}),
      })}
      {error ? (
        <span className="err" id={note} role="alert">
          <CircleAlert className="i s" aria-hidden />
          {error}
        </span>
      ) : hint ? (
        <span className="hint" id={note}>
          {hint}
        </span>
      ) : null}
    </div>
  )
}

interface TextFieldProps extends Omit<ComponentProps<'input'>, 'onChange'> {
  label: string
  hint?: ReactNode
  error?: string | null
  onChange(value: string): void
}

export function TextField({ label, hint, error, onChange, className, ...rest }: TextFieldProps) {
  return (
    <Field label={label} hint={hint} error={error ?? null}>
      {attributes => (
        <input
          {...rest}
          {...attributes}
          className={cx('input', className)}
          onChange={event => onChange(event.target.value)}
        />
      )}
    </Field>
  )
}

interface SelectFieldProps<T extends string> {
  label: string
  hint?: ReactNode
  value: T
  options: readonly { value: T; label: string }[]
  onChange(value: T): void
  disabled?: boolean
}

export function SelectField<T extends string>({
  label,
  hint,
  value,
  options,
  onChange,
  disabled,
}: SelectFieldProps<T>) {
  return (
    <Field label={label} hint={hint}>
      {attributes => (
        <select
          {...attributes}
          className="input"
          value={value}
          disabled={disabled}
          onChange={event => onChange(event.target.value as T)}
        >
          {options.map(option => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}
