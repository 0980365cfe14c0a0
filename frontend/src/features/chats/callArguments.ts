/** The arguments of a call as fields that a person can read and edit. Pure functions. */

type FieldKind = 'text' | 'number' | 'boolean' | 'json'

export interface ArgumentField {
  name: string
  kind: FieldKind
  /** The value as it is shown and edited. */
  text: string
}

/** Digits that a number of JavaScript may not hold exactly. */
const LONG_NUMBER = /\d{16}|\d[eE][+-]?\d|\.\d{12}/

/**
 * Returns the fields of a JSON object in its order; null if the text is shown and edited as a whole, because it is no
 * object or has numbers that would not be shown exactly.
 */
export function readFields(args: string): ArgumentField[] | null {
  if (LONG_NUMBER.test(args.replace(/"(?:[^"\\]|\\.)*"/g, '""'))) return null
  try {
    const values: unknown = JSON.parse(args || '{}')
    if (typeof values !== 'object' || values === null || Array.isArray(values)) return null
    return Object.entries(values).map(([name, value]) => buildField(name, value))
  } catch {
    return null
  }
}

function buildField(name: string, value: unknown): ArgumentField {
  if (typeof value === 'string') return { name, kind: 'text', text: value }
  if (typeof value === 'number') return { name, kind: 'number', text: String(value) }
  if (typeof value === 'boolean') return { name, kind: 'boolean', text: String(value) }
  return { name, kind: 'json', text: JSON.stringify(value, null, 1) }
}

/** Returns whether the text of a field can be read as its kind. */
export function isValidField(kind: FieldKind, text: string): boolean {
  if (kind === 'text') return true
  try {
    const value: unknown = JSON.parse(text)
    return kind === 'json' || typeof value === kind
  } catch {
    return false
  }
}

/** Returns the problems that the server reports of the field with this name: those that begin with its path. */
export const findProblems = (problems: readonly string[], name: string): string[] =>
  problems.filter(problem => problem.startsWith(`${name}:`) || problem.startsWith(`${name}.`))

/** Returns the JSON text of edited fields. Raises `SyntaxError` for a field that is not valid. */
export const writeFields = (fields: readonly ArgumentField[]): string =>
  JSON.stringify(
    Object.fromEntries(fields.map(({ name, kind, text }) => [name, kind === 'text' ? text : JSON.parse(text)])),
  )
