/** The form for the arguments of a tool, by its JSON Schema. Pure functions. */

export interface TestField {
  name: string
  kind: 'text' | 'number' | 'boolean' | 'choice' | 'json'
  isRequired: boolean
  description: string
  /** The texts of which one is chosen. */
  choices: readonly string[]
}

interface Property {
  type?: unknown
  enum?: unknown
  description?: unknown
}

/** Returns one field for each property of a schema. A property that no simple field can hold is written as JSON. */
export function listTestFields(schema: Record<string, unknown>): TestField[] {
  const required = Array.isArray(schema.required) ? schema.required : []
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Property | boolean>)
  return properties.map(([name, property]) => ({
    name,
    isRequired: required.includes(name),
    ...describeProperty(typeof property === 'boolean' ? {} : property),
  }))
}

function describeProperty(property: Property): Pick<TestField, 'kind' | 'description' | 'choices'> {
  const description = typeof property.description === 'string' ? property.description : ''
  const { enum: values, type } = property
  if (type === 'boolean') return { kind: 'boolean', description, choices: ['true', 'false'] }
  if (type === 'number' || type === 'integer') return { kind: 'number', description, choices: [] }
  if (type !== 'string') return { kind: 'json', description, choices: [] }
  const isChoice = Array.isArray(values) && values.every(value => typeof value === 'string')
  return isChoice ? { kind: 'choice', description, choices: values } : { kind: 'text', description, choices: [] }
}

/**
 * Returns the arguments that the texts of the fields stand for; null if one of them is not valid. An empty field that is not
 * required is left out.
 */
export function readTestArguments(
  fields: readonly TestField[],
  texts: Readonly<Record<string, string>>,
): Record<string, unknown> | null {
  const found: [string, unknown][] = []
  for (const field of fields) {
    const text = texts[field.name] ?? ''
    if (text === '' && !field.isRequired) continue
    if (!isValid(field, text)) return null
    found.push([field.name, isText(field) ? text : JSON.parse(text)])
  }
  return Object.fromEntries(found)
}

const isText = (field: TestField) => field.kind === 'text' || field.kind === 'choice'

function isValid(field: TestField, text: string): boolean {
  if (field.choices.length > 0) return field.choices.includes(text)
  if (field.kind === 'text') return true
  try {
    const value: unknown = JSON.parse(text)
    return field.kind === 'json' || typeof value === 'number'
  } catch {
    return false
  }
}
