import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countSideBySideChanges, lineChanges, splitEditorLines } from './lineChanges'

describe('the lines that differ between two texts', () => {
  it('are counted without common lines', () => {
    const before = 'Name a source.\n\n## Style\n\nShort sentences. No adjectives.'
    const after = 'Name a source, with its date and its rate.\n\n## Style\n\nShort sentences.\nBe kind.'
    expect(countSideBySideChanges(before, after)).toEqual({ added: 3, removed: 2 })
    expect(countSideBySideChanges('', 'one\ntwo')).toEqual({ added: 2, removed: 0 })
    expect(countSideBySideChanges('\na', '\n\na')).toEqual({ added: 1, removed: 0 })
    expect(countSideBySideChanges(before, before)).toEqual({ added: 0, removed: 0 })
  })

  it('transform the first text into the second', () => {
    const lines = fc.array(fc.constantFrom('', 'one', 'two', '三'), { maxLength: 12 }).map(lines => lines.join('\n'))
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const [old, current] = [splitEditorLines(before), splitEditorLines(after)]
        const result: string[] = []
        let at = 0
        for (const { fromA, toA, fromB, toB } of lineChanges(old, current)) {
          result.push(...old.slice(at, fromA), ...current.slice(fromB, toB))
          at = toA
        }
        expect([...result, ...old.slice(at)]).toEqual(current)
      }),
    )
  })
})
