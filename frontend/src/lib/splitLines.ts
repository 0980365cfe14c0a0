/** Splits a text into lines. The line break at the end is optional; an empty text has no lines. */
export function splitLines(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}
