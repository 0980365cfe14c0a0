/** The words that differ between two short texts. Pure functions. */
import { presentableDiff } from '@codemirror/merge'

export interface DiffPart {
  /** The position of its first character. */
  at: number
  text: string
  isChanged: boolean
}

/** Values up to this length are marked as a whole: `0.3 → 0.7` is clearer than a single digit. */
const MAX_UNSPLIT_LENGTH = 24

export function diffWords(before: string, after: string): { before: DiffPart[]; after: DiffPart[] } {
  if (Math.min(before.length, after.length) <= MAX_UNSPLIT_LENGTH)
    return { before: markWhole(before), after: markWhole(after) }
  const changes = presentableDiff(before, after)
  return {
    before: split(
      before,
      changes.map(change => [change.fromA, change.toA] as const),
    ),
    after: split(
      after,
      changes.map(change => [change.fromB, change.toB] as const),
    ),
  }
}

const markWhole = (text: string): DiffPart[] => [{ at: 0, text, isChanged: true }]

function split(text: string, changed: readonly (readonly [number, number])[]): DiffPart[] {
  const parts: DiffPart[] = []
  let at = 0
  const addPart = (end: number, isChanged: boolean) => {
    if (end > at) parts.push({ at, text: text.slice(at, end), isChanged })
    at = Math.max(at, end)
  }
  for (const [from, to] of changed) {
    addPart(from, false)
    addPart(to, true)
  }
  addPart(text.length, false)
  return parts
}
