import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { eastAsianWidthType } from './eastAsianWidth'
import { markdown, Parser, type Part } from './parse'

interface PartSummary {
  source: string
  tokens: string
  items: PartSummary[]
}

const summarize = (parts: readonly Part[] | null): PartSummary[] | null =>
  parts?.map(part => ({
    source: part.source.trimEnd(),
    tokens: JSON.stringify(
      part.tokens.map(({ type, content, children }) => [type, content, children?.map(child => child.content)]),
    ),
    items: summarize(part.items ?? []) ?? [],
  })) ?? null

const fragment = fc.constantFrom(
  'word',
  ' ',
  '\n',
  '\n\n',
  '- ',
  '  ',
  '    ',
  '1. ',
  '> ',
  '```\n',
  '# ',
  '---\n',
  '|a|b|\n|-|-|\n',
  '[a]',
  '[a]: http://a.example\n',
  '**',
  '`',
  '\r\n',
  '[x] ',
  '[^1]',
  '[^1]: ',
  '$$\n',
  '\\[',
  '\\]\n',
  '<sub>',
  '</sub>',
)

it('knows the same Chinese, Japanese and Korean characters as the package that it replaces', async () => {
  const name = '../../../node_modules/get-east-asian-width/index.js'
  const original = (await import(/* @vite-ignore */ name)) as { eastAsianWidthType: (codePoint: number) => string }
  const isWide = (type: string) => ['wide', 'fullwidth', 'halfwidth'].includes(type)
  const isText = (codePoint: number) => /^[\p{L}\p{P}]/u.test(String.fromCodePoint(codePoint))
  const different = []
  // The plug-in asks only from Hangul on.
  for (let codePoint = 0x1100; codePoint < 0x40000; codePoint += 1)
    if (isText(codePoint) && isWide(original.eastAsianWidthType(codePoint)) !== isWide(eastAsianWidthType(codePoint)))
      different.push(codePoint.toString(16))
  expect(different).toEqual([])
})

describe('a streaming text', () => {
  it('is parsed as if it had arrived at once', () => {
    fc.assert(
      fc.property(fc.array(fragment, { maxLength: 40 }), pieces => {
        const growing = new Parser()
        let text = ''
        for (const each of pieces) {
          text += each
          expect(summarize(growing.parse(text))).toEqual(summarize(new Parser().parse(text)))
        }
      }),
      { numRuns: 300 },
    )
  })

  it('is parsed again only from its last block', () => {
    const parser = new Parser()
    const start = 'One paragraph.\n\n'.repeat(500)
    parser.parse(`${start}a`)
    const parse = vi.spyOn(markdown, 'parse')
    parser.parse(`${start}a b`)
    expect(parse.mock.calls.map(([text]) => text)).toEqual(['One paragraph.\n\na b'])
    parse.mockRestore()
  })

  it('is not parsed again once it is too large', () => {
    const parser = new Parser()
    const wild = 'http://a.example '.repeat(4_000)
    expect(parser.parse(wild)).toBeNull()
    const parse = vi.spyOn(markdown, 'parse')
    expect(parser.parse(`${wild} more`)).toBeNull()
    expect(parse).not.toHaveBeenCalled()
    parse.mockRestore()
  })

  it('keeps unchanged parts', () => {
    const parser = new Parser()
    const first = parser.parse('one\n\ntwo\n\n- a\n- b')
    const second = parser.parse('one\n\ntwo\n\n- a\n- b\n- c')
    expect(second?.[0]).toBe(first?.[0])
    expect(second?.[1]).toBe(first?.[1])
    expect(second?.[2]?.items?.map(item => item.source.trim())).toEqual(['tight - a', 'tight - b', 'tight - c'])
  })
})
