import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lineChangeCounts, lineChanges, linesOf } from './lineChanges'

describe('the lines that differ between two texts', () => {
  it('are counted without those that both have', () => {
    const before = 'Name a source.\n\n## Style\n\nShort sentences. No adjectives.'
    const after = 'Name a source, with its date and its rate.\n\n## Style\n\nShort sentences.\nBe kind.'
    expect(lineChangeCounts(before, after)).toEqual({ added: 3, removed: 2 })
    expect(lineChangeCounts('', 'one\ntwo')).toEqual({ added: 2, removed: 0 })
    expect(lineChangeCounts('\na', '\n\na')).toEqual({ added: 1, removed: 0 })
    expect(lineChangeCounts(before, before)).toEqual({ added: 0, removed: 0 })
  })

  it('lead from the first text to the second', () => {
    const lines = fc.array(fc.constantFrom('', 'one', 'two', '三'), { maxLength: 12 }).map(each => each.join('\n'))
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const [old, fresh] = [linesOf(before), linesOf(after)]
        const result: string[] = []
        let at = 0
        for (const { fromA, toA, fromB, toB } of lineChanges(old, fresh)) {
          result.push(...old.slice(at, fromA), ...fresh.slice(fromB, toB))
          at = toA
        }
        expect([...result, ...old.slice(at)]).toEqual(fresh)
      }),
    )
  })
})
