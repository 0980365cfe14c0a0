import { CircleAlert } from 'lucide-react'
import { type ComponentProps, type InvalidEvent, type ReactNode, useId, useState } from 'react'
import { cx } from '@/lib/cx'
import { type PlainTextKey, useTexts } from '@/lib/language'
import styles from './Field.module.css'

interface FieldProps {
  label: string
  hint?: ReactNode
  error?: string | null
  /** Renders the control with these attributes. */
  children(attributes: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: true }): ReactNode
}

/** A control with a label above and a hint or an error below. */
export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId()
  const note = error || hint ? `${id}-note` : undefined
  return (
    <div className={styles.field} data-slot="field">
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        ...(note ? { 'aria-describedby': note } : {}),
        ...(error ? { 'aria-invalid': true as const } : {}),
      })}
      {error ? (
        <span className={styles.err} id={note} role="alert">
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

interface SearchInputProps {
  /** The accessible name and the placeholder. */
  label: string
  value: string
  onChange(value: string): void
  className?: string
}

/** The search field of a list. */
export function SearchInput({ label, value, onChange, className }: SearchInputProps) {
  return (
    <input
      className={cx(styles.input, className)}
      data-slot="input"
      type="search"
      aria-label={label}
      placeholder={label}
      value={value}
      onChange={event => onChange(event.target.value)}
    />
  )
}

interface TextFieldProps extends Omit<ComponentProps<'input'>, 'onChange'> {
  label: string
  hint?: ReactNode
  error?: string | null
  onChange(value: string): void
}

/** Returns the key of our text for a validation error of the browser. */
function getProblemKey({ validity }: HTMLInputElement): PlainTextKey {
  if (validity.valueMissing) return 'field.missing'
  if (validity.tooShort) return 'error.password_too_short'
  if (validity.typeMismatch) return 'field.malformed'
  return 'error.invalid'
}

/** A text field. Validation errors are shown below it instead of in a popup of the browser. */
export function TextField({ label, hint, error, onChange, className, ...rest }: TextFieldProps) {
  const { t } = useTexts()
  const [problem, setProblem] = useState<PlainTextKey | null>(null)
  const onInvalid = (event: InvalidEvent<HTMLInputElement>) => {
    event.preventDefault()
    const field = event.currentTarget
    setProblem(field.type === 'email' && field.validity.typeMismatch ? 'error.invalid_email' : getProblemKey(field))
    if (field.form?.querySelector(':invalid:not(fieldset)') === field) field.focus() // the first one
  }
  return (
    <Field label={label} hint={hint} error={problem ? t(problem) : (error ?? null)}>
      {attributes => (
        <input
          {...rest}
          {...attributes}
          className={cx(styles.input, className)}
          onInvalid={onInvalid}
          onChange={event => {
            setProblem(null)
            onChange(event.target.value)
          }}
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
          className={styles.input}
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
