/**
 * A gutter that shows which layer last changed a line: an amber bar for the applied draft, blue for edits not applied.
 */
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

/** The prompts of the layers below the one that is being edited. */
export interface LowerLayers {
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

/** Returns a text with a line break at the end: without it, adding a last line would also change the line before. */
const toDocument = (text: string) => Text.of(`${text}\n`.split('\n'))

const appendNewline = (doc: Text) => doc.append(Text.of(['', '']))

/** The differences between a text and the layer below it. */
interface Comparison {
  base: Text
  chunks: readonly Chunk[]
}

function compare(base: string, doc: Text): Comparison {
  const text = toDocument(base)
  return { base: text, chunks: Chunk.build(text, appendNewline(doc)) }
}

/** Updates a comparison after a change of `doc`. Only the changed part is compared again. */
const updateComparison = ({ base, chunks }: Comparison, doc: Text, changes: ChangeSet): Comparison => ({
  base,
  chunks: Chunk.updateB(chunks, base, appendNewline(doc), extendByNewline(changes)),
})

/** Returns the same changes, for a text with a line break at the end. */
function extendByNewline(changes: ChangeSet): ChangeSet {
  const all: ChangeSpec[] = []
  changes.iterChanges((from, to, _, __, insert) => all.push({ from, to, insert }))
  return ChangeSet.of(all, changes.length + 1)
}

/**
 * Returns where a chunk begins in the new text and where its last line ends; `to` is before `from` if the chunk only removes. For
 * blank lines added next to a blank line, CodeMirror puts the change before the chunk and counts one line too few.
 */
function getChunkRange({ fromB, toB, endB, changes }: Chunk): { from: number; to: number } {
  const [first] = changes
  if (first && first.fromB < 0 && first.toB > first.fromB)
    return { from: fromB + first.fromB + 1, to: Math.max(endB, fromB + first.toB) }
  return { from: fromB, to: fromB < toB ? endB : fromB - 1 }
}

/** Lists the lines (1-based) of `doc` that differ from its base. */
function listChangedLines({ chunks }: Comparison, doc: Text): Set<number> {
  const lines = new Set<number>()
  const last = doc.lines
  for (const chunk of chunks) {
    const { from, to } = getChunkRange(chunk)
    if (from > to || from > doc.length) continue
    const end = Math.min(last, doc.lineAt(Math.min(doc.length, to)).number)
    for (let line = doc.lineAt(from).number; line <= end; line++) lines.add(line)
  }
  return lines
}

interface Layers {
  production: Comparison
  /** Null if no draft is applied. */
  applied: Comparison | null
}

const compareLayers = ({ production, applied }: LowerLayers, doc: Text): Layers => ({
  production: compare(production, doc),
  applied: applied === null ? null : compare(applied, doc),
})

const updateLayers = ({ production, applied }: Layers, doc: Text, changes: ChangeSet): Layers => ({
  production: updateComparison(production, doc, changes),
  applied: applied && updateComparison(applied, doc, changes),
})

function buildMarks(doc: Text, { production, applied }: Layers): RangeSet<GutterMarker> {
  const builder = new RangeSetBuilder<GutterMarker>()
  const sinceProduction = listChangedLines(production, doc)
  const sinceApplied = applied ? listChangedLines(applied, doc) : sinceProduction
  for (const line of [...sinceProduction].sort((a, b) => a - b)) {
    const at = doc.line(line).from
    builder.add(at, at, sinceApplied.has(line) ? bars.writing : bars.applied)
  }
  return builder.finish()
}

export const setLowerLayers = StateEffect.define<LowerLayers>()

const field = StateField.define<{ layers: Layers; marks: RangeSet<GutterMarker> }>({
  create: ({ doc }) => ({
    layers: compareLayers({ production: doc.toString(), applied: null }, doc),
    marks: RangeSet.empty,
  }),
  update(value, { effects, docChanged, newDoc, changes }) {
    const change = effects.find(effect => effect.is(setLowerLayers))
    if (!change && !docChanged) return value
    const layers = change
      ? compareLayers(change.value as LowerLayers, newDoc)
      : updateLayers(value.layers, newDoc, changes)
    return { layers, marks: buildMarks(newDoc, layers) }
  },
})

/** Returns the layer of each line (1-based) that has a bar. For tests. */
export function listBars(state: EditorState): Map<number, Bar['layer']> {
  const found = new Map<number, Bar['layer']>()
  state.field(field).marks.between(0, state.doc.length, (from, _, bar) => {
    found.set(state.doc.lineAt(from).number, (bar as Bar).layer)
  })
  return found
}

export const layerGutter: Extension = [
  field,
  gutter({ class: 'cm-layer-gutter', markers: view => view.state.field(field).marks }),
]

/** Counts the lines added and removed against a base, as the diff in one column shows them. */
export function countUnifiedChanges(base: string, text: string): { added: number; removed: number } {
  const a = toDocument(base)
  const b = toDocument(text)
  const countLines = (doc: Text, from: number, to: number, end: number) =>
    from >= to ? 0 : doc.lineAt(Math.min(doc.length, end)).number - doc.lineAt(from).number + 1
  let added = 0
  let removed = 0
  for (const chunk of Chunk.build(a, b)) {
    added += countLines(b, chunk.fromB, chunk.toB, chunk.endB)
    removed += countLines(a, chunk.fromA, chunk.toA, chunk.endA)
  }
  return { added, removed }
}

/** Unchanged lines shown around a change, and the least number of lines that are folded. */
export const COLLAPSE = { margin: 3, minSize: 6 }

/** Returns whether folding unchanged lines would hide any. */
export function hasFoldableLines(base: string, text: string): boolean {
  const doc = toDocument(text)
  let visibleFrom = 1
  for (const chunk of Chunk.build(toDocument(base), doc)) {
    const start = doc.lineAt(Math.min(doc.length, chunk.fromB)).number
    if (start - COLLAPSE.margin - visibleFrom >= COLLAPSE.minSize) return true
    visibleFrom = doc.lineAt(Math.min(doc.length, chunk.toB)).number + COLLAPSE.margin
  }
  return doc.lines - visibleFrom + 1 >= COLLAPSE.minSize
}
