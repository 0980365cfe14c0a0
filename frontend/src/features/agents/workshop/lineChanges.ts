/** The lines that differ between two texts. Pure functions. */
import { type Change, diff } from '@codemirror/merge'

/** Splits a text into the lines that an editor shows: a line break at the end begins another one. An empty text has no lines. */
export const splitEditorLines = (text: string) => (text === '' ? [] : text.split('\n'))

/** The number of distinct lines that can be encoded as characters. Texts with more are treated as completely different. */
const MAX_LINES = 0xd800
/** Beyond this number of differences, the comparison is faster and less exact. */
const SCAN_LIMIT = 1_000

/** Returns the ranges of lines that differ (0-based). Each line is encoded as one character, so that whole lines are compared. */
export function lineChanges(old: readonly string[], current: readonly string[]): readonly Omit<Change, 'offset'>[] {
  const codes = new Map([...new Set([...old, ...current])].map((line, at) => [line, String.fromCharCode(at)]))
  if (codes.size > MAX_LINES) return [{ fromA: 0, toA: old.length, fromB: 0, toB: current.length }]
  const encode = (lines: readonly string[]) => lines.map(line => codes.get(line)).join('')
  return diff(encode(old), encode(current), { scanLimit: SCAN_LIMIT })
}

/** Counts the lines added and removed against a base, as the diff in two columns shows them. */
export function countSideBySideChanges(base: string, text: string): { added: number; removed: number } {
  const changes = lineChanges(splitEditorLines(base), splitEditorLines(text))
  return {
    added: changes.reduce((sum, { fromB, toB }) => sum + toB - fromB, 0),
    removed: changes.reduce((sum, { fromA, toA }) => sum + toA - fromA, 0),
  }
}
