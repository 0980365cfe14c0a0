import { describe, expect, it } from 'vitest'
import { buildSideRows } from './sideRows'

const formatRows = (before: string, after: string, isFolded = false) =>
  buildSideRows(before, after, isFolded).map(row =>
    row.kind === 'folded'
      ? `… ${row.count}`
      : `${row.before?.text ?? '∅'} | ${row.after?.text ?? '∅'}${row.kind === 'changed' ? ' *' : ''}`,
  )

describe('two texts side by side', () => {
  it('have the same lines in the same row', () => {
    expect(formatRows('a\nb', 'a\nb')).toEqual(['a | a', 'b | b'])
  })

  it('have a changed line beside its new text, also after added lines', () => {
    const before = '# Role\nQuote every price in euros, please.\nBe kind.'
    const after = '# Role\nAnswer briefly.\nNever guess.\nQuote every price in dollars, please.\nBe kind.'
    expect(formatRows(before, after)).toEqual([
      '# Role | # Role',
      '∅ | Answer briefly. *',
      '∅ | Never guess. *',
      'Quote every price in euros, please. | Quote every price in dollars, please. *',
      'Be kind. | Be kind.',
    ])
  })

  it('have common lines unmarked, also between two changes', () => {
    const before = 'Name a source for each price.\n\n## Style\n\nShort sentences. No adjectives that only praise.'
    const after =
      'Name a source for each price, with its date and the rate of that day.\n\n## Style\n\nShort sentences.'
    expect(formatRows(before, after).slice(1, -1)).toEqual([' | ', '## Style | ## Style', ' | '])
    expect(formatRows('\na', '\n\na')).toEqual(['∅ |  *', ' | ', 'a | a'])
  })

  it('have an empty side beside added and deleted lines', () => {
    expect(formatRows('a\nb\nc', 'a\nc')).toEqual(['a | a', 'b | ∅ *', 'c | c'])
    expect(formatRows('a', 'a\nb')).toEqual(['a | a', '∅ | b *'])
    expect(formatRows('', 'new\ntext')).toEqual(['∅ | new *', '∅ | text *'])
    expect(formatRows('gone', '')).toEqual(['gone | ∅ *'])
  })

  it('keep every line once and in order', () => {
    const before = 'one\ntwo words here\nthree\n\nfive'
    const after = 'two words there\nthree\nfour\n\n\nfive!'
    const rows = buildSideRows(before, after, false)
    const side = (name: 'before' | 'after') =>
      rows.flatMap(row => (row.kind !== 'folded' && row[name] ? [row[name].text] : [])).join('\n')
    expect(side('before')).toBe(before)
    expect(side('after')).toBe(after)
  })

  it('fold lines far from a change', () => {
    const lines = Array.from({ length: 20 }, (_, at) => `line ${at}`)
    const after = [...lines.slice(0, 10), 'LINE 10!', ...lines.slice(11)].join('\n')
    const folded = formatRows(lines.join('\n'), after, true)
    expect(folded[0]).toBe('… 7')
    expect(folded.at(-1)).toBe('… 6')
    expect(folded).toHaveLength(9)
  })
})
