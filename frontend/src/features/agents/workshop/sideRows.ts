/** Two texts side by side, line by line: what was changed stands beside what it was changed into. Pure. */
import { presentableDiff } from '@codemirror/merge'
import { COLLAPSE } from './layerGutter'
import { lineChanges, linesOf } from './lineChanges'

export interface SideLine {
  number: number
  text: string
}

export type SideRow =
  | { kind: 'same' | 'changed'; before: SideLine | null; after: SideLine | null }
  /** So many lines that are the same on both sides. */
  | { kind: 'folded'; from: number; count: number }

/** The rows of two texts; long stretches without a change are one row each, unless all is to be shown. */
export function rowsOf(before: string, after: string, isFolded: boolean): SideRow[] {
  const [old, fresh] = [linesOf(before), linesOf(after)]
  const rows: SideRow[] = []
  let [a, b] = [0, 0]
  const same = (until: number) => {
    for (; a < until; a += 1, b += 1) rows.push({ kind: 'same', before: lineAt(old, a), after: lineAt(fresh, b) })
  }
  for (const { fromA, toA, fromB, toB } of lineChanges(old, fresh)) {
    same(fromA)
    for (const [i, j] of paired(old.slice(fromA, toA), fresh.slice(fromB, toB))) {
      rows.push({
        kind: 'changed',
        before: i === null ? null : lineAt(old, fromA + i),
        after: j === null ? null : lineAt(fresh, fromB + j),
      })
    }
    ;[a, b] = [toA, toB]
  }
  same(old.length)
  return isFolded ? collapse(rows) : rows
}

const lineAt = (lines: readonly string[], at: number): SideLine => ({ number: at + 1, text: lines[at] ?? '' })

/** Up to so many pairs of lines are compared; above, they stand beside each other in their order. */
const MAX_PAIRS = 900
/** Lines that have less than this in common are not made of each other. */
const ALIKE = 0.4

type Pair = readonly [number | null, number | null]

/** Which old line stands beside which new one: those that are alike, and between them one after the other. */
function paired(old: readonly string[], fresh: readonly string[]): Pair[] {
  const pairs: Pair[] = []
  let [a, b] = [0, 0]
  const fill = (untilA: number, untilB: number) => {
    while (a < untilA || b < untilB) pairs.push([a < untilA ? a++ : null, b < untilB ? b++ : null])
  }
  for (const [i, j] of old.length * fresh.length > MAX_PAIRS ? [] : alikeIn(old, fresh)) {
    fill(i, j)
    pairs.push([i, j])
    ;[a, b] = [i + 1, j + 1]
  }
  fill(old.length, fresh.length)
  return pairs
}

/** The pairs of lines, in order, that have most in common altogether. */
function alikeIn(old: readonly string[], fresh: readonly string[]): [number, number][] {
  const alike = old.map(line => fresh.map(other => likeness(line, other)))
  const gain = (i: number, j: number) => alike[i]?.[j] ?? 0
  const score = scoresOf(old.length, fresh.length, gain)
  const pairs: [number, number][] = []
  let [i, j] = [0, 0]
  while (i < old.length && j < fresh.length) {
    if (gain(i, j) > 0 && score(i, j) === gain(i, j) + score(i + 1, j + 1)) pairs.push([i++, j++])
    else if (score(i, j) === score(i + 1, j)) i += 1
    else j += 1
  }
  return pairs
}

type Score = (i: number, j: number) => number

/** What the lines from these two on can have in common at most. */
function scoresOf(height: number, width: number, gain: Score): Score {
  const best = Array.from({ length: height }, () => new Array<number>(width).fill(0))
  const score: Score = (i, j) => best[i]?.[j] ?? 0
  for (let i = height - 1; i >= 0; i -= 1) {
    const row = best[i] ?? []
    for (let j = width - 1; j >= 0; j -= 1)
      row[j] = Math.max(gain(i, j) && gain(i, j) + score(i + 1, j + 1), score(i + 1, j), score(i, j + 1))
  }
  return score
}

/** How much two lines have in common, up to 1; 0 where that is little. */
function likeness(a: string, b: string): number {
  if (a === b) return 1
  const length = a.length + b.length
  const changed = presentableDiff(a, b, { scanLimit: 200 }).reduce(
    (sum, change) => sum + (change.toA - change.fromA) + (change.toB - change.fromB),
    0,
  )
  const common = length === 0 ? 1 : 1 - changed / length
  return common < ALIKE ? 0 : common
}

function collapse(rows: readonly SideRow[]): SideRow[] {
  const isNear = (at: number) =>
    rows.slice(Math.max(0, at - COLLAPSE.margin), at + COLLAPSE.margin + 1).some(row => row.kind === 'changed')
  const visible: SideRow[] = []
  let hidden: SideRow[] = []
  const close = () => {
    if (hidden.length < COLLAPSE.minSize) visible.push(...hidden)
    else visible.push({ kind: 'folded', from: visible.length, count: hidden.length })
    hidden = []
  }
  rows.forEach((row, at) => {
    if (!isNear(at)) {
      hidden.push(row)
      return
    }
    close()
    visible.push(row)
  })
  close()
  return visible
}
