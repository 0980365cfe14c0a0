/** The text of a merge beside what it was made on: whose each line is, what is gone, where voices disagree. Pure. */
import type { Conflict, Piece, Provenance } from '@/api'

export interface MergedLine {
  sign: ' ' | '+' | '−'
  text: string
  /** Whose line it is; empty for what stands in production or stood there. */
  voices: readonly string[]
}

export type MergedPart =
  | { kind: 'lines'; lines: readonly MergedLine[] }
  | { kind: 'gap'; lines: readonly MergedLine[] }
  | { kind: 'conflict'; conflict: Conflict }

/** So many unchanged lines are shown beside a change; a longer run between them is folded. */
const MARGIN = 3

const linesOf = (text: string) => (text === '' ? [] : text.replace(/\n$/, '').split('\n'))

/** Where `block` stands in `lines` from `from` on as a whole; -1 when it does not. */
function blockAt(lines: readonly string[], block: readonly string[], from: number): number {
  for (let at = from; at + block.length <= lines.length; at += 1)
    if (block.every((line, index) => lines[at + index] === line)) return at
  return -1
}

type Drawn = MergedLine | Conflict

class Reading {
  readonly parts: Drawn[] = []
  private fresh: Drawn[] = []
  private at = 0

  constructor(private readonly base: readonly string[]) {}

  /** Words of somebody's, or a conflict: what they take the place of is known at the next line that was kept. */
  add(parts: readonly Drawn[]): void {
    this.fresh.push(...parts)
  }

  /** Lines that stand in production; `isDrawn` false where a conflict shows them among its choices. */
  keep(lines: readonly string[], isDrawn = true): void {
    const at = blockAt(this.base, lines, this.at)
    this.end(Math.max(at, this.at))
    if (at >= 0) this.at += lines.length
    if (isDrawn) this.parts.push(...lines.map(text => ({ sign: ' ', text, voices: [] }) as const))
  }

  /** What stood in production and was skipped is gone. */
  end(upTo = this.base.length): void {
    for (const text of this.base.slice(this.at, upTo)) this.parts.push({ sign: '−', text, voices: [] })
    this.at = Math.max(this.at, upTo)
    this.parts.push(...this.fresh)
    this.fresh = []
  }
}

/** Pieces side by side that belong to the same conflict, or a single piece. */
function runs(pieces: readonly Piece[]): Piece[][] {
  const all: Piece[][] = []
  for (const piece of pieces) {
    const last = all.at(-1)
    if (last && piece.conflict !== null && last[0]?.conflict === piece.conflict) last.push(piece)
    else all.push([piece])
  }
  return all
}

const textOf = (pieces: readonly Piece[]) => pieces.map(piece => piece.text).join('')

/** Whether the conflict's own list of choices shows these words already. */
function isShown(run: readonly Piece[], conflict: Conflict | undefined): boolean {
  const chosen = conflict?.chosen == null ? undefined : conflict.choices[conflict.chosen]?.text
  return chosen !== undefined && chosen.trim() === textOf(run).trim()
}

function read(reading: Reading, run: readonly Piece[], conflict: Conflict | undefined): void {
  const isDrawn = !isShown(run, conflict)
  for (const piece of run) {
    if (piece.voices.length === 0) reading.keep(linesOf(piece.text), isDrawn)
    else if (isDrawn) reading.add(added(piece))
  }
  if (conflict) reading.add([conflict])
}

const added = (piece: Piece) => linesOf(piece.text).map(text => ({ sign: '+', text, voices: piece.voices }) as const)

const isConflict = (part: Drawn): part is Conflict => 'choices' in part

/** The merged text in order, long unchanged runs folded. */
export function mergedParts(production: string, provenance: Provenance): MergedPart[] {
  const reading = new Reading(linesOf(production))
  for (const run of runs(provenance.pieces)) read(reading, run, provenance.conflicts[run[0]?.conflict ?? -1])
  reading.end()
  return folded(grouped(reading.parts))
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
    const pieces: MergedPart[] = [
      { kind: 'lines', lines: group.lines.slice(0, head) },
      { kind: 'gap', lines: group.lines.slice(head, cut) },
      { kind: 'lines', lines: group.lines.slice(cut) },
    ]
    return pieces.filter(piece => piece.kind !== 'lines' || piece.lines.length > 0)
  })
}

/** The conflicts that no piece of the prompt shows: those about the model, a limit, a tool. */
export function otherConflicts({ pieces, conflicts }: Provenance): Conflict[] {
  const inText = new Set(pieces.map(piece => piece.conflict))
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
export const sharesOf = ({ voices, pieces, conflicts }: Provenance): Share[] =>
  voices.map(({ id, name, actor_id: actorId }) => ({
    id,
    name,
    actorId,
    lines: pieces
      .filter(piece => piece.voices.includes(id))
      .reduce((sum, piece) => sum + linesOf(piece.text).length, 0),
    conflicts: conflicts.filter(conflict => conflict.choices.some(choice => choice.voice === id)).length,
  }))

export function countConflicts(parts: readonly MergedPart[]): { added: number; removed: number } {
  const lines = parts.flatMap(part => (part.kind === 'conflict' ? [] : part.lines))
  const count = (sign: MergedLine['sign']) => lines.filter(line => line.sign === sign).length
  return { added: count('+') + parts.filter(part => part.kind === 'conflict').length, removed: count('−') }
}
