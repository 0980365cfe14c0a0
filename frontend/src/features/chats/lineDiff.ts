/** The lines of a unified diff, as they are drawn. Pure. */

interface DiffLine {
  /** Its place among the lines. */
  at: number
  /** `…` stands for lines that are left out. */
  sign: '+' | '−' | ' ' | '…'
  text: string
}

const signs: Partial<Record<string, DiffLine['sign']>> = { '+': '+', '-': '−', ' ': ' ' }

/** The lines that differ, with those around them; between two places that are apart stands one line for the gap. */
export function diffLines(unified: string): DiffLine[] {
  if (!unified) return []
  const lines = unified.split('\n').map((line, at): DiffLine => {
    const sign = signs[line.charAt(0)]
    return sign ? { at, sign, text: line.slice(1) } : { at, sign: '…', text: '' }
  })
  return lines[0]?.sign === '…' ? lines.slice(1) : lines
}
