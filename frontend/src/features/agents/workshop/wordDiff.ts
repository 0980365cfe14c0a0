/** Which words of a short text differ from another's. Pure. */
import { presentableDiff } from '@codemirror/merge'

export interface DiffPart {
  /** Where it begins. */
  at: number
  text: string
  isChanged: boolean
}

/** Up to this length a value is changed as a whole: `0.3 → 0.7` says more than a digit. */
const SHORT = 24

export function wordParts(before: string, after: string): { before: DiffPart[]; after: DiffPart[] } {
  if (Math.min(before.length, after.length) <= SHORT) return { before: unsplit(before), after: unsplit(after) }
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

const unsplit = (text: string): DiffPart[] => [{ at: 0, text, isChanged: true }]

function split(text: string, changed: readonly (readonly [number, number])[]): DiffPart[] {
  const parts: DiffPart[] = []
  let at = 0
  const upTo = (end: number, isChanged: boolean) => {
    if (end > at) parts.push({ at, text: text.slice(at, end), isChanged })
    at = Math.max(at, end)
  }
  for (const [from, to] of changed) {
    upTo(from, false)
    upTo(to, true)
  }
  upTo(text.length, false)
  return parts
}
