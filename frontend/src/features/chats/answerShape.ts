/** The values with which a task is to answer, as a person names them, and their JSON schema. Pure functions. */
import type { BoardTaskRow } from '@/api'

type Schema = NonNullable<BoardTaskRow['output_schema']>

export type ValueKind = 'text' | 'number' | 'yesNo' | 'texts'

/** A value of an answer. */
export interface AnswerValue {
  name: string
  kind: ValueKind
}

/** `json`: the schema as text, which is written in place of the values; null: the values describe it. */
export interface AnswerShape {
  values: readonly AnswerValue[]
  json: string | null
}

const schemas: Readonly<Record<ValueKind, Schema>> = {
  text: { type: 'string' },
  number: { type: 'number' },
  yesNo: { type: 'boolean' },
  texts: { type: 'array', items: { type: 'string' } },
}
export const valueKinds = Object.keys(schemas) as readonly ValueKind[]

export const newShape = (): AnswerShape => ({ values: [], json: null })

const describeValues = (values: readonly AnswerValue[]): Schema => ({
  type: 'object',
  properties: Object.fromEntries(values.map(({ name, kind }) => [name.trim(), schemas[kind]])),
  required: values.map(({ name }) => name.trim()),
  additionalProperties: false,
})

/** Returns the object that a text is the JSON of; null for any other text. */
function readObject(text: string): Schema | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : null
  } catch {
    return null
  }
}

/** Returns what is wrong with a shape; null if nothing is. The server checks the rest of a schema. */
export function findShapeProblem({ values, json }: AnswerShape): 'noSchema' | 'names' | null {
  if (json !== null) return json.trim() === '' || readObject(json) ? null : 'noSchema'
  const names = values.map(({ name }) => name.trim())
  return names.includes('') || new Set(names).size < names.length ? 'names' : null
}

/** Returns the schema of a shape, which has no problem; null if the answer is a text. */
export function buildSchema({ values, json }: AnswerShape): Schema | null {
  if (json !== null) return readObject(json)
  return values.length > 0 ? describeValues(values) : null
}

/** Returns the shape as JSON text, to be edited. */
export const toJsonShape = (shape: AnswerShape): AnswerShape => ({
  ...shape,
  json: JSON.stringify(describeValues(shape.values), null, 2),
})

/** Returns the shape of a schema: its values if they describe it wholly, else its JSON text. */
export function openSchema(schema: Schema | null): AnswerShape {
  if (schema === null) return newShape()
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, unknown>)
  const values = properties.flatMap(([name, value]) => {
    const kind = valueKinds.find(each => isEqual(schemas[each], value))
    return kind ? [{ name, kind }] : []
  })
  const isDescribed = values.length > 0 && isEqual(describeValues(values), schema)
  return isDescribed ? { values, json: null } : { values: [], json: JSON.stringify(schema, null, 2) }
}

/** Returns whether two JSON values are equal. The order of keys does not count: the database sorts them. */
function isEqual(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every(key => key in b && isEqual(a[key as keyof typeof a], b[key as keyof typeof b]))
  )
}
