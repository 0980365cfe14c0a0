import { expect, it } from 'vitest'
import { formatKeys } from './keys'

it.each([
  [['$mod+k'], 'Ctrl K'],
  [['$mod+Shift+Period'], 'Ctrl ⇧ .'],
  [['Alt+ArrowUp', 'Alt+ArrowDown'], 'Alt ↑ ↓'],
  [['F6', 'Shift+F6'], 'F6  ⇧ F6'],
  [['g c', 'g s'], 'G C  G S'],
  [['g c', 'j'], 'G C  J'],
  [['Shift+x', 'g c', 'Shift+y'], '⇧ X  G C  ⇧ Y'],
  [['[Shift]+?'], '?'],
  [[], ''],
])('writes %j as "%s"', (bindings, text) => expect(formatKeys(bindings)).toBe(text))
