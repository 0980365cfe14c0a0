import { EditorState } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { describe, expect, it } from 'vitest'
import { remoteCaret, setCaret } from './remoteCaret'

/** Returns the positions of the flags in a text of four characters. */
function listFlagPositions(at: number): number[] {
  const start = EditorState.create({ doc: 'four', extensions: remoteCaret })
  const { state } = start.update({ effects: setCaret.of({ at, name: 'Bob' }) })
  const found: number[] = []
  for (const flags of state.facet(EditorView.decorations))
    if (typeof flags !== 'function') flags.between(0, 4, from => void found.push(from))
  return found
}

describe("another person's caret", () => {
  it.each([
    [2, 2],
    [4, 4],
    [-1, 0],
    [1e18, 4],
    [1.5, 1],
    [Number.NaN, 0],
    ['3' as unknown as number, 3],
    ['x' as unknown as number, 0],
  ])('sent as %s is shown at %s, within the text', (sent, shown) => {
    expect(listFlagPositions(sent)).toEqual([shown])
  })
})
