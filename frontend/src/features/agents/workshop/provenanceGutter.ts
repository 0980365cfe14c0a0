/** A gutter with the contributors of each line, for a draft with provenance. */
import { type Extension, RangeSet, RangeSetBuilder, StateEffect, StateField, type Text } from '@codemirror/state'
import { GutterMarker, gutter } from '@codemirror/view'

/** The lines (1-based) of one or more contributors. */
export interface SourceMark {
  lines: readonly number[]
  names: string
  layer: 'suggestion' | 'writing'
}

class Bar extends GutterMarker {
  constructor(
    private readonly names: string,
    private readonly isFirst: boolean,
    private readonly layer: SourceMark['layer'],
  ) {
    super()
  }
  override eq(other: Bar): boolean {
    return other.names === this.names && other.isFirst === this.isFirst && other.layer === this.layer
  }
  override toDOM(): Node {
    const bar = document.createElement('div')
    bar.className = `source ${this.layer}`
    bar.title = this.names
    if (this.isFirst) {
      const name = document.createElement('span')
      name.textContent = this.names
      bar.append(document.createElement('i'), name)
    }
    return bar
  }
}

export const setSources = StateEffect.define<readonly SourceMark[]>()

function buildMarks(doc: Text, marks: readonly SourceMark[]): RangeSet<GutterMarker> {
  const all = marks.flatMap(({ lines, names, layer }) =>
    lines.map((line, at) => ({ line, bar: new Bar(names, lines[at - 1] !== line - 1, layer) })),
  )
  const builder = new RangeSetBuilder<GutterMarker>()
  for (const { line, bar } of all.sort((a, b) => a.line - b.line)) {
    if (line > doc.lines) break
    const { from } = doc.line(line)
    builder.add(from, from, bar)
  }
  return builder.finish()
}

const field = StateField.define<RangeSet<GutterMarker>>({
  create: () => RangeSet.empty,
  update(value, transaction) {
    const change = transaction.effects.find(effect => effect.is(setSources))
    if (change) return buildMarks(transaction.newDoc, change.value as readonly SourceMark[])
    return value.map(transaction.changes)
  },
})

export const provenanceGutter: Extension = [
  field,
  gutter({ class: 'cm-source-gutter', side: 'after', markers: view => view.state.field(field) }),
]
