/** The merged text as a diff against its base: production when the merge began. With contributors. Pure functions. */
import type { Conflict, Provenance, Segment } from '@/api'
import { splitLines } from '@/lib/splitLines'

export interface MergedLine {
  sign: ' ' | '+' | '−'
  text: string
  /** The ids of its contributors; empty for lines of the base. */
  contributors: readonly string[]
}

export type MergedPart =
  | { kind: 'lines'; lines: readonly MergedLine[] }
  | { kind: 'gap'; lines: readonly MergedLine[] }
  | { kind: 'conflict'; conflict: Conflict }

/** Number of unchanged lines shown beside a change; longer sequences are folded. */
const MARGIN = 3

/** Returns the index of `block` in `lines` from index `from` on; -1 if it is not there. */
function findBlock(lines: readonly string[], block: readonly string[], from: number): number {
  for (let at = from; at + block.length <= lines.length; at += 1)
    if (block.every((line, index) => lines[at + index] === line)) return at
  return -1
}

type LineOrConflict = MergedLine | Conflict

class MergedTextBuilder {
  readonly parts: LineOrConflict[] = []
  private pending: LineOrConflict[] = []
  /** The index of the first line of the base that is not added yet. */
  private at = 0

  constructor(private readonly base: readonly string[]) {}

  /**
   * Adds contributed lines or a conflict. They wait in `pending` until the next unchanged line, because only then it is
   * known which lines of the base they replace: those are shown first, as removed.
   */
  add(parts: readonly LineOrConflict[]): void {
    this.pending.push(...parts)
  }

  /** Adds lines of the base. With `isVisible` false they are not shown, because a conflict shows them among its choices. */
  addUnchanged(lines: readonly string[], isVisible = true): void {
    const at = findBlock(this.base, lines, this.at)
    this.flush(Math.max(at, this.at))
    if (at >= 0) this.at += lines.length
    if (isVisible) this.parts.push(...lines.map(text => ({ sign: ' ', text, contributors: [] }) as const))
  }

  /** Adds the skipped lines of the base as removed, then the pending ones. */
  flush(upTo = this.base.length): void {
    for (const text of this.base.slice(this.at, upTo)) this.parts.push({ sign: '−', text, contributors: [] })
    this.at = Math.max(this.at, upTo)
    this.parts.push(...this.pending)
    this.pending = []
  }
}

/** Groups adjacent segments of the same conflict. */
function groupByConflict(segments: readonly Segment[]): Segment[][] {
  const all: Segment[][] = []
  for (const segment of segments) {
    const last = all.at(-1)
    if (last && segment.conflict !== null && last[0]?.conflict === segment.conflict) last.push(segment)
    else all.push([segment])
  }
  return all
}

const joinSegments = (segments: readonly Segment[]) => segments.map(segment => segment.text).join('')

/** Returns whether the choices of the conflict already show this text. */
function isShownByConflict(group: readonly Segment[], conflict: Conflict | undefined): boolean {
  const chosen = conflict?.chosen == null ? undefined : conflict.choices[conflict.chosen]?.text
  return chosen !== undefined && chosen.trim() === joinSegments(group).trim()
}

function addGroup(builder: MergedTextBuilder, group: readonly Segment[], conflict: Conflict | undefined): void {
  const isVisible = !isShownByConflict(group, conflict)
  for (const segment of group) {
    if (segment.contributors.length === 0) builder.addUnchanged(splitLines(segment.text), isVisible)
    else if (isVisible) builder.add(buildAddedLines(segment))
  }
  if (conflict) builder.add([conflict])
}

const buildAddedLines = (segment: Segment) =>
  splitLines(segment.text).map(text => ({ sign: '+', text, contributors: segment.contributors }) as const)

const isConflict = (part: LineOrConflict): part is Conflict => 'choices' in part

/** Builds the parts of the merged text in order, with long sequences of unchanged lines folded. */
export function buildMergedParts(basePrompt: string, provenance: Provenance): MergedPart[] {
  const builder = new MergedTextBuilder(splitLines(basePrompt))
  for (const group of groupByConflict(provenance.segments))
    addGroup(builder, group, provenance.conflicts[group[0]?.conflict ?? -1])
  builder.flush()
  return foldUnchanged(groupLines(builder.parts))
}

function groupLines(parts: readonly LineOrConflict[]): MergedPart[] {
  const groups: MergedPart[] = []
  for (const part of parts) {
    const last = groups.at(-1)
    if (isConflict(part)) groups.push({ kind: 'conflict', conflict: part })
    else if (last?.kind === 'lines' && (last.lines[0]?.sign === ' ') === (part.sign === ' '))
      groups[groups.length - 1] = { kind: 'lines', lines: [...last.lines, part] }
    else groups.push({ kind: 'lines', lines: [part] })
  }
  return groups
}

function foldUnchanged(groups: readonly MergedPart[]): MergedPart[] {
  return groups.flatMap((group, index) => {
    if (group.kind !== 'lines' || group.lines[0]?.sign !== ' ') return [group]
    const head = index === 0 ? 0 : MARGIN
    const tail = index === groups.length - 1 ? 0 : MARGIN
    if (group.lines.length <= head + tail + 2) return [group] // too few to fold
    const cut = group.lines.length - tail
    const folded: MergedPart[] = [
      { kind: 'lines', lines: group.lines.slice(0, head) },
      { kind: 'gap', lines: group.lines.slice(head, cut) },
      { kind: 'lines', lines: group.lines.slice(cut) },
    ]
    return folded.filter(part => part.kind !== 'lines' || part.lines.length > 0)
  })
}

/** Lists the conflicts outside the prompt: about the model, a limit or a tool. */
export function listFieldConflicts({ segments, conflicts }: Provenance): Conflict[] {
  const inText = new Set(segments.map(segment => segment.conflict))
  return conflicts.filter((_, index) => !inText.has(index))
}

export interface Share {
  id: string
  name: string
  actorId: string
  /** The number of lines in the merged prompt to which they contributed. */
  lines: number
  conflicts: number
}

/** Counts the lines and conflicts of each contributor. */
export const listShares = ({ contributors, segments, conflicts }: Provenance): Share[] =>
  contributors.map(({ id, name, actor_id: actorId }) => ({
    id,
    name,
    actorId,
    lines: segments
      .filter(segment => segment.contributors.includes(id))
      .reduce((sum, segment) => sum + splitLines(segment.text).length, 0),
    conflicts: conflicts.filter(conflict => conflict.choices.some(choice => choice.contributor === id)).length,
  }))

/** Counts the changed lines. A conflict counts as one added line. */
export function countChangedLines(parts: readonly MergedPart[]): { added: number; removed: number } {
  const lines = parts.flatMap(part => (part.kind === 'conflict' ? [] : part.lines))
  const count = (sign: MergedLine['sign']) => lines.filter(line => line.sign === sign).length
  return { added: count('+') + parts.filter(part => part.kind === 'conflict').length, removed: count('−') }
}
