/** What a model reads of a tool, as text. Pure functions. */

interface Definition {
  title: string
  description: string
  input_schema: Record<string, unknown>
}

/** Returns the description and the schema of the arguments. */
export function buildModelText({ title, description, input_schema }: Definition): string {
  return [title, description, JSON.stringify(input_schema, null, 2)].filter(Boolean).join('\n\n')
}

interface MarkedLine {
  /** Its index. */
  at: number
  text: string
  isChanged: boolean
}

/** Returns the lines of a text, and which of them the other text lacks. Without another text none is marked. */
export function markChangedLines(text: string, other?: string): MarkedLine[] {
  const known = other === undefined ? null : new Set(other.split('\n'))
  return text.split('\n').map((line, at) => ({ at, text: line, isChanged: known !== null && !known.has(line) }))
}
