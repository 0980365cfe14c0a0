import { describe, expect, it } from 'vitest'
import { formatCsv } from './csv'
import type { FindName } from './mentions'
import { markdown } from './parse'
import { formatPlainText, listCells } from './plainText'

const findName: FindName = handle => (handle === 'bob' ? { name: 'Bob Lee', isMe: false } : null)

describe('the text of Markdown', () => {
  it.each([
    ['words', 'Some **bold** and *other* `code`.', 'Some bold and other code.'],
    ['headings and paragraphs', '# Title\n\nOne\ntwo\n\nthree', 'Title\n\nOne\ntwo\n\nthree'],
    ['lists', '- a\n- b\n  1. c\n  2. d\n\n9. x\n10. y\n    z', '- a\n- b\n  1. c\n  2. d\n\n9. x\n10. y\n    z'],
    ['tasks', '- [x] done\n- [ ] open', '- [x] done\n- [ ] open'],
    ['quotes', '> a\n>\n> b', '> a\n>\n> b'],
    ['code', '```py\nprint(1)\n\nprint(2)\n```', 'print(1)\n\nprint(2)'],
    [
      'links',
      '[here](https://a.example/x), https://b.example, [https://c.example](https://c.example)',
      'here (https://a.example/x), https://b.example, https://c.example',
    ],
    ['images', '![a cat](https://a.example/cat.png)', 'a cat (https://a.example/cat.png)'],
    ['mentions', 'Ask @bob, not @nobody or `@bob`', 'Ask @Bob Lee, not @nobody or @bob'],
    ['tables', 'Prices:\n\n| a | b |\n|---|--:|\n| x | **1** |', 'Prices:\n\na\tb\nx\t1'],
    ['formulas', 'So $a_1 \\cdot b$ and\n\n$$\nx^2\\,dx\n$$', 'So $a_1 \\cdot b$ and\n\n$$\nx^2\\,dx\n$$'],
    ['rules', 'a\n\n***\n\nb', 'a\n\n---\n\nb'],
    ['footnotes', 'a[^1]\n\n[^1]: b', 'a[1]\n\n[1] b'],
    ['Chinese', '**重點：**請看[這裡](https://a.example)', '重點：請看這裡 (https://a.example)'],
  ])('%s', (_, source, text) => {
    expect(formatPlainText(source, findName)).toBe(text)
  })

  it('is the source where Markdown is shown as source', () => {
    const source = '> '.repeat(60).concat('deep')
    expect(formatPlainText(source, findName)).toBe(source)
  })
})

it('lists the cells of a table as text', () => {
  const tokens = markdown.parse('| a \\| b | @bob |\n|---|---|\n| `1` | [x](https://a.example) |', {})
  expect(listCells(tokens, findName)).toEqual([
    ['a | b', '@Bob Lee'],
    ['1', 'x (https://a.example)'],
  ])
})

describe('CSV', () => {
  it('quotes separators, quotation marks and line breaks', () => {
    expect(
      formatCsv([
        ['a', 'b,c', 'd"e'],
        ['f\ng', '', ' h '],
      ]),
    ).toBe('a,"b,c","d""e"\r\n"f\ng",, h \r\n')
  })

  it.each(['=1+1', '+SUM(A1)', '-SUM(A1)', '@x', '＝1', ' =1', '\t=1', '-1+cmd|x', '=HYPERLINK("https://a.example")'])(
    'puts an apostrophe before what a spreadsheet would execute: %j',
    text => {
      const [cell = ''] = formatCsv([[text]]).split('\r\n')
      expect(cell.replace(/^"/, '')).toMatch(/^'/)
    },
  )

  it.each(['-5', '+3.2%', '-$1,200.50', '−7', '-€ 3', '+1e-6', '-1 000,5'])('leaves an amount as it is: %j', text => {
    expect(formatCsv([[text]]).replace(/^"(.*)"\r\n$/, '$1\r\n')).toBe(`${text}\r\n`)
  })

  it.each(['a;=1', 'a\n=1', 'a|-b()'])('knows that another character can separate the cells: %j', text => {
    expect(formatCsv([[text]])).toContain("'")
  })
})
