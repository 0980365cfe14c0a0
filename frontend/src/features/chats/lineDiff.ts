/** The lines of a unified diff for display. Pure functions. */

interface DiffLine {
  /** Its index. */
  at: number
  /** `…` means omitted lines. */
  sign: '+' | '−' | ' ' | '…'
  text: string
}

const signs: Partial<Record<string, DiffLine['sign']>> = { '+': '+', '-': '−', ' ': ' ' }

/** Parses a unified diff without file headers into lines, with one line for each gap between hunks. */
export function parseDiff(unified: string): DiffLine[] {
  if (!unified) return []
  const lines = unified.split('\n').map((line, at): DiffLine => {
    const sign = signs[line.charAt(0)]
    return sign ? { at, sign, text: line.slice(1) } : { at, sign: '…', text: '' }
  })
  return lines[0]?.sign === '…' ? lines.slice(1) : lines
}
