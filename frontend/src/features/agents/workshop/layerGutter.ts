/** Which layer last changed a line: a bar in the gutter, amber for what is applied here, blue for what is being written. */
import { Chunk } from '@codemirror/merge'
import {
  ChangeSet,
  type ChangeSpec,
  type EditorState,
  type Extension,
  RangeSet,
  RangeSetBuilder,
  StateEffect,
  StateField,
  Text,
} from '@codemirror/state'
import { GutterMarker, gutter } from '@codemirror/view'

export interface Below {
  production: string
  applied: string | null
}

class Bar extends GutterMarker {
  constructor(readonly layer: 'applied' | 'writing') {
    super()
  }
  override toDOM(): Node {
    const bar = document.createElement('div')
    bar.className = `layer ${this.layer}`
    return bar
  }
}

const bars = { applied: new Bar('applied'), writing: new Bar('writing') }

/** With a line end at the end, or a line that is added last would change the one before it, too. */
const textWithNewline = (text: string) => Text.of(`${text}\n`.split('\n'))

const withFinalNewline = (doc: Text) => doc.append(Text.of(['', '']))

/** How a text differs from the one below it. */
interface Comparison {
  base: Text
  chunks: readonly Chunk[]
}

function compare(base: string, doc: Text): Comparison {
  const text = textWithNewline(base)
  return { base: text, chunks: Chunk.build(text, withFinalNewline(doc)) }
}

/** After a change of `doc`: only what was changed is compared anew. */
const compareAgain = ({ base, chunks }: Comparison, doc: Text, changes: ChangeSet): Comparison => ({
  base,
  chunks: Chunk.updateB(chunks, base, withFinalNewline(doc), withEnd(changes)),
})

/** The same changes of a text with a line end at its end. */
function withEnd(changes: ChangeSet): ChangeSet {
  const all: ChangeSpec[] = []
  changes.iterChanges((from, to, _, __, insert) => all.push({ from, to, insert }))
  return ChangeSet.of(all, changes.length + 1)
}

/**
 * Where a chunk begins in the new text, and where its last line ends; before its beginning if it only removes. Of blank lines that are
 * added to a blank line CodeMirror puts the change before the chunk, and counts a line too few.
 */
function rangeOf({ fromB, toB, endB, changes }: Chunk): { from: number; to: number } {
  const [first] = changes
  if (first && first.fromB < 0 && first.toB > first.fromB)
    return { from: fromB + first.fromB + 1, to: Math.max(endB, fromB + first.toB) }
  return { from: fromB, to: fromB < toB ? endB : fromB - 1 }
}

/** The lines (1-based) of `doc` that are not those of its base. */
function changedLines({ chunks }: Comparison, doc: Text): Set<number> {
  const lines = new Set<number>()
  const last = doc.lines
  for (const chunk of chunks) {
    const { from, to } = rangeOf(chunk)
    if (from > to || from > doc.length) continue
    const end = Math.min(last, doc.lineAt(Math.min(doc.length, to)).number)
    for (let line = doc.lineAt(from).number; line <= end; line++) lines.add(line)
  }
  return lines
}

interface Layers {
  production: Comparison
  /** Null: nothing is applied here. */
  applied: Comparison | null
}

const layersOf = ({ production, applied }: Below, doc: Text): Layers => ({
  production: compare(production, doc),
  applied: applied === null ? null : compare(applied, doc),
})

const changedLayers = ({ production, applied }: Layers, doc: Text, changes: ChangeSet): Layers => ({
  production: compareAgain(production, doc, changes),
  applied: applied && compareAgain(applied, doc, changes),
})

function marksOf(doc: Text, { production, applied }: Layers): RangeSet<GutterMarker> {
  const builder = new RangeSetBuilder<GutterMarker>()
  const sinceProduction = changedLines(production, doc)
  const sinceApplied = applied ? changedLines(applied, doc) : sinceProduction
  for (const line of [...sinceProduction].sort((a, b) => a - b)) {
    const at = doc.line(line).from
    builder.add(at, at, sinceApplied.has(line) ? bars.writing : bars.applied)
  }
  return builder.finish()
}

export const setBelow = StateEffect.define<Below>()

const field = StateField.define<{ layers: Layers; marks: RangeSet<GutterMarker> }>({
  create: ({ doc }) => ({
    layers: layersOf({ production: doc.toString(), applied: null }, doc),
    marks: RangeSet.empty,
  }),
  update(value, { effects, docChanged, newDoc, changes }) {
    const change = effects.find(effect => effect.is(setBelow))
    if (!change && !docChanged) return value
    const layers = change ? layersOf(change.value as Below, newDoc) : changedLayers(value.layers, newDoc, changes)
    return { layers, marks: marksOf(newDoc, layers) }
  },
})

/** The lines (1-based) with a bar, and of which layer it is. */
export function barsIn(state: EditorState): Map<number, string> {
  const found = new Map<number, string>()
  state.field(field).marks.between(0, state.doc.length, (from, _, bar) => {
    found.set(state.doc.lineAt(from).number, (bar as Bar).layer)
  })
  return found
}

export const layerGutter: Extension = [
  field,
  gutter({ class: 'cm-layer-gutter', markers: view => view.state.field(field).marks }),
]

/** Lines added and removed against a base, as the diff of one column marks them. */
export function lineCounts(base: string, text: string): { added: number; removed: number } {
  const a = textWithNewline(base)
  const b = textWithNewline(text)
  const lines = (doc: Text, from: number, to: number, end: number) =>
    from >= to ? 0 : doc.lineAt(Math.min(doc.length, end)).number - doc.lineAt(from).number + 1
  let added = 0
  let removed = 0
  for (const chunk of Chunk.build(a, b)) {
    added += lines(b, chunk.fromB, chunk.toB, chunk.endB)
    removed += lines(a, chunk.fromA, chunk.toA, chunk.endA)
  }
  return { added, removed }
}

/** How many unchanged lines are shown around a change, and from how many hidden ones on they are folded. */
export const COLLAPSE = { margin: 3, minSize: 6 }

/** Whether folding what is unchanged hides anything. */
export function hidesLines(base: string, text: string): boolean {
  const doc = textWithNewline(text)
  let visibleFrom = 1
  for (const chunk of Chunk.build(textWithNewline(base), doc)) {
    const start = doc.lineAt(Math.min(doc.length, chunk.fromB)).number
    if (start - COLLAPSE.margin - visibleFrom >= COLLAPSE.minSize) return true
    visibleFrom = doc.lineAt(Math.min(doc.length, chunk.toB)).number + COLLAPSE.margin
  }
  return doc.lines - visibleFrom + 1 >= COLLAPSE.minSize
}
