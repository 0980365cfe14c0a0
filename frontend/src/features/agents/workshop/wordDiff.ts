/** Which words of a short text differ from another's. Pure. */
import { presentableDiff } from '@codemirror/merge'

export interface Part {
  /** Where it begins. */
  at: number
  text: string
  isChanged: boolean
}

/** Up to this length a value is changed as a whole: `0.3 → 0.7` says more than a digit. */
const SHORT = 24

export function wordParts(before: string, after: string): { before: Part[]; after: Part[] } {
  if (Math.min(before.length, after.length) <= SHORT) return { before: whole(before), after: whole(after) }
  const changes = presentableDiff(before, after)
  return {
    before: cut(
      before,
      changes.map(change => [change.fromA, change.toA] as const),
    ),
    after: cut(
      after,
      changes.map(change => [change.fromB, change.toB] as const),
    ),
  }
}

const whole = (text: string): Part[] => [{ at: 0, text, isChanged: true }]

function cut(text: string, changed: readonly (readonly [number, number])[]): Part[] {
  const parts: Part[] = []
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
