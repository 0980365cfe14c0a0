/** The caret of another person who is editing, with their name. */
import { type Extension, StateEffect, StateField } from '@codemirror/state'
import { Decoration, type DecorationSet, EditorView, WidgetType } from '@codemirror/view'

class Flag extends WidgetType {
  constructor(private readonly name: string) {
    super()
  }
  override eq(other: Flag): boolean {
    return other.name === this.name
  }
  override toDOM(): HTMLElement {
    const flag = document.createElement('span')
    flag.className = 'flag'
    flag.dataset['name'] = this.name
    return flag
  }
}

export const setCaret = StateEffect.define<{ at: number; name: string } | null>()

const field = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(flags, transaction) {
    for (const effect of transaction.effects) {
      if (!effect.is(setCaret)) continue
      if (!effect.value) return Decoration.none
      const at = Math.min(Math.max(0, Math.trunc(effect.value.at) || 0), transaction.newDoc.length)
      return Decoration.set([Decoration.widget({ widget: new Flag(effect.value.name), side: 1 }).range(at)])
    }
    return flags.map(transaction.changes)
  },
  provide: own => EditorView.decorations.from(own),
})

export const remoteCaret: Extension = field
