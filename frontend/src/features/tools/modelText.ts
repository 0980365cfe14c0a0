/** What a model reads of a tool, and what its server has changed in it. Pure functions. */
import type { ToolDefinitionRow, WorkspaceToolRow } from '@/api'

type Definition = Pick<
  WorkspaceToolRow | ToolDefinitionRow,
  'title' | 'description' | 'input_schema' | 'output_schema' | 'request' | 'annotations'
>

/** Returns the description and the schema of the arguments. */
export function buildModelText({
  title,
  description,
  input_schema,
}: Pick<Definition, 'title' | 'description' | 'input_schema'>): string {
  return [title, description, toText(input_schema)].filter(Boolean).join('\n\n')
}

const parts = ['title', 'description', 'input_schema', 'output_schema', 'annotations', 'request'] as const
type DefinitionPart = (typeof parts)[number]

interface DefinitionChange {
  part: DefinitionPart
  before: string
  after: string
}

/** Returns the parts of a definition that differ, each as text. If there are none, only hidden characters differ. */
export const listDefinitionChanges = (before: Definition, after: Definition): DefinitionChange[] =>
  parts
    .map(part => ({ part, before: toText(before[part]), after: toText(after[part]) }))
    .filter(change => change.before !== change.after)

/** Returns a value as text: an object as JSON with sorted keys, so that their order is no difference. */
function toText(value: unknown): string {
  if (value == null || value === '') return ''
  if (typeof value === 'string') return value
  if (typeof value === 'object' && Object.keys(value).length === 0) return ''
  return JSON.stringify(sortKeys(value), null, 2)
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sortKeys(inner)]),
  )
}
