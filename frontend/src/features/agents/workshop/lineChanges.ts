/** Which lines differ between two texts. Pure. */
import { type Change, diff } from '@codemirror/merge'

export const linesOf = (text: string) => (text === '' ? [] : text.split('\n'))

/** More different lines than this are not compared: there is no character left for them. */
const MAX_LINES = 0xd800
/** Where more lines differ, they are compared faster and less exactly. */
const SCAN_LIMIT = 1_000

/** The stretches of lines that differ, counted from 0. One character stands for each line, so that none is changed in part. */
export function lineChanges(old: readonly string[], fresh: readonly string[]): readonly Omit<Change, 'offset'>[] {
  const codes = new Map([...new Set([...old, ...fresh])].map((line, at) => [line, String.fromCharCode(at)]))
  if (codes.size > MAX_LINES) return [{ fromA: 0, toA: old.length, fromB: 0, toB: fresh.length }]
  const encoded = (lines: readonly string[]) => lines.map(line => codes.get(line)).join('')
  return diff(encoded(old), encoded(fresh), { scanLimit: SCAN_LIMIT })
}

/** Lines added and removed against a base, as the diff of two columns marks them. */
export function lineChangeCounts(base: string, text: string): { added: number; removed: number } {
  const changes = lineChanges(linesOf(base), linesOf(text))
  return {
    added: changes.reduce((sum, { fromB, toB }) => sum + toB - fromB, 0),
    removed: changes.reduce((sum, { fromA, toA }) => sum + toA - fromA, 0),
  }
}
