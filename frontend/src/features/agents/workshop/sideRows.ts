/** The rows of a side-by-side diff: each changed line is beside its new text. Pure functions. */
import { presentableDiff } from '@codemirror/merge'
import { COLLAPSE } from './layerGutter'
import { lineChanges, splitEditorLines } from './lineChanges'

export interface SideLine {
  number: number
  text: string
}

export type SideRow =
  | { kind: 'same' | 'changed'; before: SideLine | null; after: SideLine | null }
  /** `count` unchanged lines. */
  | { kind: 'folded'; from: number; count: number }

/** Builds the rows of two texts. With `isFolded`, long stretches of unchanged lines are one row each. */
export function buildSideRows(before: string, after: string, isFolded: boolean): SideRow[] {
  const [old, current] = [splitEditorLines(before), splitEditorLines(after)]
  const rows: SideRow[] = []
  let [a, b] = [0, 0]
  const addUnchanged = (until: number) => {
    for (; a < until; a += 1, b += 1) rows.push({ kind: 'same', before: getLine(old, a), after: getLine(current, b) })
  }
  for (const { fromA, toA, fromB, toB } of lineChanges(old, current)) {
    addUnchanged(fromA)
    for (const [i, j] of pairLines(old.slice(fromA, toA), current.slice(fromB, toB))) {
      rows.push({
        kind: 'changed',
        before: i === null ? null : getLine(old, fromA + i),
        after: j === null ? null : getLine(current, fromB + j),
      })
    }
    ;[a, b] = [toA, toB]
  }
  addUnchanged(old.length)
  return isFolded ? foldRows(rows) : rows
}

const getLine = (lines: readonly string[], at: number): SideLine => ({ number: at + 1, text: lines[at] ?? '' })

/** The maximal number of pairs of lines to compare. Beyond it, lines are paired in their order. */
const MAX_PAIRS = 900
/** Lines with less than this share in common are not paired. */
const MIN_SIMILARITY = 0.4

type Pair = readonly [number | null, number | null]

/** Pairs old lines with new ones: first similar lines, then those between them in order. */
function pairLines(old: readonly string[], current: readonly string[]): Pair[] {
  const pairs: Pair[] = []
  let [a, b] = [0, 0]
  const fill = (untilA: number, untilB: number) => {
    while (a < untilA || b < untilB) pairs.push([a < untilA ? a++ : null, b < untilB ? b++ : null])
  }
  for (const [i, j] of old.length * current.length > MAX_PAIRS ? [] : findSimilarPairs(old, current)) {
    fill(i, j)
    pairs.push([i, j])
    ;[a, b] = [i + 1, j + 1]
  }
  fill(old.length, current.length)
  return pairs
}

/** Finds the pairs of lines, in order, with the greatest total similarity. */
function findSimilarPairs(old: readonly string[], current: readonly string[]): [number, number][] {
  const similarities = old.map(line => current.map(other => getSimilarity(line, other)))
  const gain = (i: number, j: number) => similarities[i]?.[j] ?? 0
  const score = computeBestScores(old.length, current.length, gain)
  const pairs: [number, number][] = []
  let [i, j] = [0, 0]
  while (i < old.length && j < current.length) {
    if (gain(i, j) > 0 && score(i, j) === gain(i, j) + score(i + 1, j + 1)) pairs.push([i++, j++])
    else if (score(i, j) === score(i + 1, j)) i += 1
    else j += 1
  }
  return pairs
}

type Score = (i: number, j: number) => number

/** Computes the greatest total similarity of the lines from `i` and `j` on. */
function computeBestScores(height: number, width: number, gain: Score): Score {
  const best = Array.from({ length: height }, () => new Array<number>(width).fill(0))
  const score: Score = (i, j) => best[i]?.[j] ?? 0
  for (let i = height - 1; i >= 0; i -= 1) {
    const row = best[i] ?? []
    for (let j = width - 1; j >= 0; j -= 1)
      row[j] = Math.max(gain(i, j) && gain(i, j) + score(i + 1, j + 1), score(i + 1, j), score(i, j + 1))
  }
  return score
}

/** Returns how similar two lines are, up to 1; 0 below `MIN_SIMILARITY`. */
function getSimilarity(a: string, b: string): number {
  if (a === b) return 1
  const length = a.length + b.length
  const changed = presentableDiff(a, b, { scanLimit: 200 }).reduce(
    (sum, change) => sum + (change.toA - change.fromA) + (change.toB - change.fromB),
    0,
  )
  const common = length === 0 ? 1 : 1 - changed / length
  return common < MIN_SIMILARITY ? 0 : common
}

function foldRows(rows: readonly SideRow[]): SideRow[] {
  const isNear = (at: number) =>
    rows.slice(Math.max(0, at - COLLAPSE.margin), at + COLLAPSE.margin + 1).some(row => row.kind === 'changed')
  const visible: SideRow[] = []
  let hidden: SideRow[] = []
  const flushHidden = () => {
    if (hidden.length < COLLAPSE.minSize) visible.push(...hidden)
    else visible.push({ kind: 'folded', from: visible.length, count: hidden.length })
    hidden = []
  }
  rows.forEach((row, at) => {
    if (!isNear(at)) {
      hidden.push(row)
      return
    }
    flushHidden()
    visible.push(row)
  })
  flushHidden()
  return visible
}
