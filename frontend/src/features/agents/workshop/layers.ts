/** Which layer last changed a line: a bar in the gutter, amber for what is applied here, blue for what is being written. */
import { Chunk } from '@codemirror/merge'
import { type Extension, RangeSet, RangeSetBuilder, StateEffect, StateField, Text } from '@codemirror/state'
import { GutterMarker, gutter } from '@codemirror/view'

export interface Below {
  production: string
  applied: string | null
}

class Bar extends GutterMarker {
  constructor(private readonly layer: 'applied' | 'writing') {
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
const asText = (text: string) => Text.of(`${text}\n`.split('\n'))

/** The lines (1-based) of `doc` that differ from `base`. */
function changedLines(base: string, doc: Text): Set<number> {
  const lines = new Set<number>()
  const last = doc.lines
  for (const chunk of Chunk.build(asText(base), doc.append(Text.of(['', ''])))) {
    if (chunk.fromB >= chunk.toB) continue
    if (chunk.fromB > doc.length) continue
    const end = Math.min(last, doc.lineAt(Math.min(doc.length, chunk.endB)).number)
    for (let line = doc.lineAt(chunk.fromB).number; line <= end; line++) lines.add(line)
  }
  return lines
}

function marksOf(doc: Text, below: Below): RangeSet<GutterMarker> {
  const builder = new RangeSetBuilder<GutterMarker>()
  const sinceProduction = changedLines(below.production, doc)
  const sinceApplied = below.applied === null ? sinceProduction : changedLines(below.applied, doc)
  for (const line of [...sinceProduction].sort((a, b) => a - b)) {
    const at = doc.line(line).from
    builder.add(at, at, sinceApplied.has(line) ? bars.writing : bars.applied)
  }
  return builder.finish()
}

export const setBelow = StateEffect.define<Below>()

const field = StateField.define<{ below: Below; marks: RangeSet<GutterMarker> }>({
  create: () => ({ below: { production: '', applied: null }, marks: RangeSet.empty }),
  update(value, transaction) {
    const told = transaction.effects.find(effect => effect.is(setBelow))
    if (!told && !transaction.docChanged) return value
    const below = told ? (told.value as Below) : value.below
    return { below, marks: marksOf(transaction.newDoc, below) }
  },
})

export const layerBars: Extension = [
  field,
  gutter({ class: 'cm-layer-gutter', markers: view => view.state.field(field).marks }),
]

/** Lines added and removed against a base, as the diff counts them. */
export function lineCounts(base: string, text: string): { added: number; removed: number } {
  const a = asText(base)
  const b = asText(text)
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
