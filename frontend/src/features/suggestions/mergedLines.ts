/** The text of a merge beside what it was made on: whose each line is, what is gone, where contributors disagree. Pure. */
import type { Conflict, Provenance, Segment } from '@/api'

export interface MergedLine {
  sign: ' ' | '+' | '−'
  text: string
  /** Whose line it is; empty for what stands in production or stood there. */
  contributors: readonly string[]
}

export type MergedPart =
  | { kind: 'lines'; lines: readonly MergedLine[] }
  | { kind: 'gap'; lines: readonly MergedLine[] }
  | { kind: 'conflict'; conflict: Conflict }

/** So many unchanged lines are shown beside a change; a longer run between them is folded. */
const MARGIN = 3

const splitLines = (text: string) => (text === '' ? [] : text.replace(/\n$/, '').split('\n'))

/** Where `block` stands in `lines` from `from` on as a whole; -1 when it does not. */
function blockAt(lines: readonly string[], block: readonly string[], from: number): number {
  for (let at = from; at + block.length <= lines.length; at += 1)
    if (block.every((line, index) => lines[at + index] === line)) return at
  return -1
}

type Drawn = MergedLine | Conflict

class MergedTextBuilder {
  readonly parts: Drawn[] = []
  private fresh: Drawn[] = []
  private at = 0

  constructor(private readonly base: readonly string[]) {}

  /** Words of somebody's, or a conflict: what they take the place of is known at the next line that was kept. */
  add(parts: readonly Drawn[]): void {
    this.fresh.push(...parts)
  }

  /** Lines that stand in production; `isDrawn` false where a conflict shows them among its choices. */
  addUnchanged(lines: readonly string[], isDrawn = true): void {
    const at = blockAt(this.base, lines, this.at)
    this.end(Math.max(at, this.at))
    if (at >= 0) this.at += lines.length
    if (isDrawn) this.parts.push(...lines.map(text => ({ sign: ' ', text, contributors: [] }) as const))
  }

  /** What stood in production and was skipped is gone. */
  end(upTo = this.base.length): void {
    for (const text of this.base.slice(this.at, upTo)) this.parts.push({ sign: '−', text, contributors: [] })
    this.at = Math.max(this.at, upTo)
    this.parts.push(...this.fresh)
    this.fresh = []
  }
}

/** Group adjacent segments of the same conflict. */
function groupByConflict(segments: readonly Segment[]): Segment[][] {
  const all: Segment[][] = []
  for (const segment of segments) {
    const last = all.at(-1)
    if (last && segment.conflict !== null && last[0]?.conflict === segment.conflict) last.push(segment)
    else all.push([segment])
  }
  return all
}

const textOf = (segments: readonly Segment[]) => segments.map(segment => segment.text).join('')

/** Whether the conflict's own list of choices shows these words already. */
function isShownByConflict(run: readonly Segment[], conflict: Conflict | undefined): boolean {
  const chosen = conflict?.chosen == null ? undefined : conflict.choices[conflict.chosen]?.text
  return chosen !== undefined && chosen.trim() === textOf(run).trim()
}

function addRun(builder: MergedTextBuilder, run: readonly Segment[], conflict: Conflict | undefined): void {
  const isDrawn = !isShownByConflict(run, conflict)
  for (const segment of run) {
    if (segment.contributors.length === 0) builder.addUnchanged(splitLines(segment.text), isDrawn)
    else if (isDrawn) builder.add(added(segment))
  }
  if (conflict) builder.add([conflict])
}

const added = (segment: Segment) =>
  splitLines(segment.text).map(text => ({ sign: '+', text, contributors: segment.contributors }) as const)

const isConflict = (part: Drawn): part is Conflict => 'choices' in part

/** The merged text in order, long unchanged runs folded. */
export function mergedParts(production: string, provenance: Provenance): MergedPart[] {
  const builder = new MergedTextBuilder(splitLines(production))
  for (const run of groupByConflict(provenance.segments))
    addRun(builder, run, provenance.conflicts[run[0]?.conflict ?? -1])
  builder.end()
  return folded(grouped(builder.parts))
}

function grouped(parts: readonly Drawn[]): MergedPart[] {
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

function folded(groups: readonly MergedPart[]): MergedPart[] {
  return groups.flatMap((group, index) => {
    if (group.kind !== 'lines' || group.lines[0]?.sign !== ' ') return [group]
    const head = index === 0 ? 0 : MARGIN
    const tail = index === groups.length - 1 ? 0 : MARGIN
    if (group.lines.length <= head + tail + 2) return [group]
    const cut = group.lines.length - tail
    const segments: MergedPart[] = [
      { kind: 'lines', lines: group.lines.slice(0, head) },
      { kind: 'gap', lines: group.lines.slice(head, cut) },
      { kind: 'lines', lines: group.lines.slice(cut) },
    ]
    return segments.filter(segment => segment.kind !== 'lines' || segment.lines.length > 0)
  })
}

/** The conflicts outside of the prompt: those about the model, a limit, a tool. */
export function otherConflicts({ segments, conflicts }: Provenance): Conflict[] {
  const inText = new Set(segments.map(segment => segment.conflict))
  return conflicts.filter((_, index) => !inText.has(index))
}

export interface Share {
  id: string
  name: string
  actorId: string
  /** Lines of the merged prompt that are theirs, alone or with others. */
  lines: number
  conflicts: number
}

/** What became of each one's words. */
export const sharesOf = ({ contributors, segments, conflicts }: Provenance): Share[] =>
  contributors.map(({ id, name, actor_id: actorId }) => ({
    id,
    name,
    actorId,
    lines: segments
      .filter(segment => segment.contributors.includes(id))
      .reduce((sum, segment) => sum + splitLines(segment.text).length, 0),
    conflicts: conflicts.filter(conflict => conflict.choices.some(choice => choice.contributor === id)).length,
  }))

export function countConflicts(parts: readonly MergedPart[]): { added: number; removed: number } {
  const lines = parts.flatMap(part => (part.kind === 'conflict' ? [] : part.lines))
  const count = (sign: MergedLine['sign']) => lines.filter(line => line.sign === sign).length
  return { added: count('+') + parts.filter(part => part.kind === 'conflict').length, removed: count('−') }
}
