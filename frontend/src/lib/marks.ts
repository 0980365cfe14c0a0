/** A part of a text, in characters. */
export interface TextRange {
  start: number
  end: number
}

interface Part {
  text: string
  isMarked: boolean
}

/** Splits a text at the parts that a search has marked. The server counts characters, and a string has UTF-16 units. */
export function splitAtMarks(text: string, marks: readonly TextRange[]): Part[] {
  const characters = Array.from(text)
  const parts: Part[] = []
  let at = 0
  for (const { start, end } of marks) {
    parts.push({ text: characters.slice(at, start).join(''), isMarked: false })
    parts.push({ text: characters.slice(start, end).join(''), isMarked: true })
    at = end
  }
  parts.push({ text: characters.slice(at).join(''), isMarked: false })
  return parts.filter(part => part.text !== '')
}
