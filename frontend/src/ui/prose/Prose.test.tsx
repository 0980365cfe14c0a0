import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, it, vi } from 'vitest'
import { loadLanguage } from '@/lib/language'
import table from '../../../../tests/fixtures/mentions.json'
import { CitationContext, splitCitations } from './citations'
import { Prose } from './Prose'
import { markdown } from './parse'
import { getHost, isTextOfHost } from './urls'

vi.stubGlobal('document', { documentElement: {} })
await loadLanguage('en')
const findNoName = () => null
const renderHtml = (text: string, growing = false) =>
  renderToStaticMarkup(<Prose text={text} findName={findNoName} growing={growing} />)

const remote = [
  '![a](https://evil.example/a.png?q=secret)',
  '![a][r]\n\n[r]: https://evil.example/a.png',
  '<img src="https://evil.example/a.png">',
  '<img srcset="https://evil.example/a.png 2x">',
  '<picture><source srcset="https://evil.example/a.png"></picture>',
  '<video src="https://evil.example/a.mp4" autoplay></video>',
  '<style>@import url(https://evil.example/a.css)</style>',
  '<div style="background:url(https://evil.example/a.png)">x</div>',
  '<svg><image href="https://evil.example/a.png"/></svg>',
  '<link rel="stylesheet" href="https://evil.example/a.css">',
  '<iframe src="https://evil.example"></iframe>',
  '![a](//evil.example/a.png)',
  '![a](data:image/svg+xml;base64,PHN2Zz4=)',
]

describe('SEC10: nothing loads by itself', () => {
  it.each(remote)('%s', text => {
    for (const growing of [false, true]) {
      expect(renderHtml(text, growing)).not.toMatch(
        /<(img|picture|source|video|style|link|iframe|image|object|embed)\b/i,
      )
      expect(renderHtml(text, growing)).not.toMatch(/<[^>]*\s(style|srcset|src|background)=/i)
    }
  })
})

const scripts = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '[a](javascript:alert(1))',
  '[a](JaVaScRiPt:alert(1))',
  '[a](data:text/html,<script>alert(1)</script>)',
  '[a](vbscript:x)',
  '<a href="javascript:alert(1)">x</a>',
  '<svg onload=alert(1)>',
  '<math><mi xlink:href="javascript:alert(1)">',
  '<details open ontoggle=alert(1)>',
  '`<script>`',
  '[x]: javascript:alert(1)\n\n[x]',
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
]

describe('SEC11: a message contains no script', () => {
  it.each(scripts)('%s', text => {
    const rendered = renderHtml(text)
    expect(rendered).not.toMatch(/<(script|svg(?! xmlns)|math|details|noscript|img)\b/i)
    expect(rendered).not.toMatch(/<[^>]*\son\w+=/i)
    expect(rendered).not.toMatch(/href="(javascript|data|vbscript):/i)
  })
})

/** Texts that cause slow parsing, stack overflows or huge pages. */
const hostile: Record<string, string> = {
  'quotes in quotes': '>'.repeat(4_000),
  'quotes in quotes, with spaces': '> '.repeat(4_000),
  'struck and not ended': '~~a~ '.repeat(20_000),
  'links in links': '[a]('.repeat(25_000),
  'emphasis that never ends': '*a_ '.repeat(25_000),
  'lists in lists in a line': '- '.repeat(2_000),
  'numbers in numbers in a line': '1) '.repeat(2_000),
  'lists in lists': Array.from({ length: 300 }, (_, depth) => `${'  '.repeat(depth)}- x`).join('\n'),
  'images that never end': '![a'.repeat(20_000),
  brackets: '['.repeat(50_000),
  'brackets that end': '[]'.repeat(50_000),
  'code that never ends': '`a'.repeat(50_000),
  'emphasis in emphasis': `${'*a **b '.repeat(5_000)}${'b** a*'.repeat(5_000)}`,
  urls: 'http://a.example '.repeat(5_000),
  people: '@a '.repeat(33_000),
  emails: 'a@a.example '.repeat(8_000),
  'emails, joined': 'a@'.repeat(50_000),
  'one long name before an at': `${'a'.repeat(50_000)}@`,
  www: 'www.'.repeat(25_000),
  entities: '&#x41;'.repeat(16_000),
  definitions: Array.from({ length: 5_000 }, (_, n) => `[${n}]: http://a.example/${n}`).join('\n'),
  'definitions that never end': '[a]: '.repeat(20_000),
  'a table with many rows': `|a|b|\n|-|-|\n${'|1|2|\n'.repeat(15_000)}`,
  'a table with many columns': `${'|a'.repeat(3_000)}|\n${'|-'.repeat(3_000)}|\n${'|1\n'.repeat(200)}`,
  'formulas that never end': '\\( $a$$ '.repeat(12_000),
  'formulas of lines that never end': '\\[\n'.repeat(30_000),
  formulas: '$a$ '.repeat(25_000),
  'footnotes in footnotes': '[^1]: '.repeat(15_000),
  footnotes: '[^1] '.repeat(15_000).concat('\n\n[^1]: a'),
  'elements that never end': '<sub>'.repeat(20_000),
  'elements in elements': '<sub><sup>'.repeat(5_000).concat('</sup></sub>'.repeat(5_000)),
  'addresses before Chinese': 'https://a中'.repeat(9_000),
  'emphasis in Chinese that never ends': '中**。_「'.repeat(15_000),
  tabs: '\t'.repeat(50_000),
  'empty lines': '\n'.repeat(90_000),
  'an endless word': 'a'.repeat(200_000),
  'much ordinary text': 'A line of *ordinary* text with a [link](https://a.example).\n\n'.repeat(3_300),
}

const keepLetters = (text: string) => text.replace(/[^\p{L}\p{N}]/gu, '')
const extractText = (rendered: string) => rendered.replace(/<[^>]*>/g, '').replaceAll('&gt;', '')

describe('a hostile text', () => {
  it.each(Object.keys(hostile))('%s', name => {
    const text = hostile[name] ?? ''
    for (const growing of [false, true]) {
      const rendered = renderHtml(text, growing)
      // The page is not huge, and the text is not missing.
      expect(rendered.match(/<\w/g)?.length ?? 0).toBeLessThan(12_000)
      expect(rendered === '').toBe(text.trim() === '')
    }
  })

  it('is shown as source where Markdown would drop content that is nested too deeply', () => {
    for (const deep of [
      'quotes in quotes',
      'lists in lists in a line',
      'numbers in numbers in a line',
      'lists in lists',
    ]) {
      const rendered = renderHtml(`${hostile[deep]} the end`)
      expect(keepLetters(extractText(rendered)) === keepLetters(`${hostile[deep]} the end`)).toBe(true)
    }
  })

  it('is cut with a button to show the rest', () => {
    const rendered = renderHtml(hostile['much ordinary text'] ?? '')
    expect(rendered).toContain('Show all')
    expect(extractText(rendered).length).toBeLessThan(100_000)
  })
})

describe('Prose', () => {
  it('shows HTML as source', () => {
    expect(renderHtml('a <b>c</b>')).toBe('<p dir="auto">a &lt;b&gt;c&lt;/b&gt;</p>')
  })

  it('shows the name of a mention and marks the reader', () => {
    const findName = (handle: string) =>
      ({ scribe: { name: 'Scribe', isMe: false }, alice: { name: 'Alice', isMe: true } })[handle] ?? null
    const rendered = renderToStaticMarkup(
      <Prose text="@scribe and @alice, not me@scribe.org or @nobody" findName={findName} />,
    )
    expect(rendered).toContain('<span class="at" title="@scribe">@Scribe</span>')
    expect(rendered).toContain('<span class="at me" title="@alice">@Alice</span>')
    expect(rendered).toContain('@nobody')
    expect(rendered.match(/class="at/g)).toHaveLength(2)
  })

  it.each(table.cases)('shows the mentions that the server finds: $id', ({ typed, sent = typed, mentions }) => {
    const names = new Map(table.participants.map(({ handle, name }) => [handle, name]))
    const findName = (handle: string) => {
      const name = names.get(handle.toLowerCase())
      return name === undefined ? null : { name, isMe: false }
    }
    const rendered = renderToStaticMarkup(<Prose text={sent} findName={findName} />)
    const drawn = [...rendered.matchAll(/<span class="at" title="[^"]*">@([^<]*)</g)].map(([, name]) => name)
    expect(drawn).toEqual(mentions.map(([handle]) => names.get(String(handle))))
  })

  it('keeps line breaks', () => {
    expect(renderHtml('line 1\nline 2')).toBe('<p dir="auto">line 1<br/>line 2</p>')
    expect(renderHtml('> a\n> b')).toContain('a<br/>b')
  })

  it('renders the elements of a text', () => {
    expect(renderHtml('# One\n## Two')).toBe('<h3 dir="auto" class="h1">One</h3><h4 dir="auto" class="h2">Two</h4>')
    expect(renderHtml('a **b** _c_ ~~d~~ `e`')).toContain('a <strong>b</strong> <em>c</em> <del>d</del> <code>e</code>')
    expect(renderHtml('1. a\n2. b')).toBe('<ol dir="auto" start="1"><li>a</li><li>b</li></ol>')
    expect(renderHtml('- a\n\n- b')).toBe('<ul dir="auto"><li><p>a</p></li><li><p>b</p></li></ul>')
    expect(renderHtml('- a\n  - b')).toBe('<ul dir="auto"><li>a<ul><li>b</li></ul></li></ul>')
    expect(renderHtml('---')).toBe('<hr/>')
    expect(renderHtml('|a|b|\n|-|-:|\n|1|2|')).toContain('<tr><td>1</td><td class="r">2</td></tr>')
  })

  it('renders the checkboxes of a task list, but not in the middle of a text', () => {
    const rendered = renderHtml('- [ ] a\n- [x] **b**\n- c [ ]')
    expect(rendered).toContain('<li class="task"><input type="checkbox" disabled="" aria-label="To do"/>a</li>')
    expect(rendered).toMatch(/<li class="task"><input [^>]*checked=""[^>]*\/><strong>b<\/strong><\/li>/)
    expect(rendered).toContain('<li>c [ ]</li>')
  })

  it('leaves code unchanged, shows its language, and keeps its direction', () => {
    const rendered = renderHtml('```py\n@alice <b> https://a.example\n```')
    expect(rendered).toContain('<span class="mono">py</span>')
    expect(rendered).toContain('<pre tabindex="0" dir="ltr"><code>@alice &lt;b&gt; https://a.example\n</code></pre>')
  })

  it('links bare URLs but not file names', () => {
    expect(renderHtml('see https://a.example/b.')).toContain('<a href="https://a.example/b"')
    expect(renderHtml('see www.a.example/b, then')).toContain('<a href="https://www.a.example/b"')
    expect(renderHtml('ask me@a.example')).toContain('<a href="mailto:me@a.example"')
    expect(renderHtml('in setup.py and README.md')).not.toContain('<a')
  })

  it('links only to URLs and emails', () => {
    for (const href of ['/w/x', 'ftp://a.example', 'file:///etc', 'blob:x', `https://a.example/${'a'.repeat(3_000)}`])
      expect(renderHtml(`[a](${href})`)).not.toContain('<a')
  })

  it('does not nest links', () => {
    expect(renderHtml('[![a](https://b.example/c.png)](https://a.example)').match(/<a /g)).toHaveLength(1)
  })

  it('shows the host of a link', () => {
    const rendered = renderHtml('[your bank](https://evil.example/login)')
    expect(rendered).toContain('<bdi class="host">evil.example</bdi>')
    expect(rendered).toContain('rel="noopener noreferrer nofollow"')
  })

  it('shows the host also if it occurs in the text of the link', () => {
    const showsHost = (linkText: string) => renderHtml(`[${linkText}](https://evil.example/login)`).includes('<bdi')
    expect(showsHost('https://bank.example/?from=evil.example')).toBe(true)
    expect(showsHost('evil.example.bank.example')).toBe(true)
    expect(showsHost('not evil.example')).toBe(true)
    expect(showsHost('https://evil.example/of course')).toBe(false)
    expect(showsHost('evil.example')).toBe(false)
  })
})

const withoutAttributes = (rendered: string) =>
  rendered.replace(/ (?:dir|target|rel|title|class)="[^"]*"/g, '').replaceAll(/<bdi>[^<]*<\/bdi>/g, '')
const paragraph = (text: string) => withoutAttributes(renderHtml(text)).replace(/^<p>(.*)<\/p>$/s, '$1')

describe('Chinese, Japanese and Korean', () => {
  it.each([
    ['**注意：**請先備份', '<strong>注意：</strong>請先備份'],
    ['這是**重點。**接著', '這是<strong>重點。</strong>接著'],
    ['含**「重點」**內容', '含<strong>「重點」</strong>內容'],
    ['これは*「強調」*です', 'これは<em>「強調」</em>です'],
    ['이것은**"강조"**입니다', '이것은<strong>&quot;강조&quot;</strong>입니다'],
    ['共~~（舊）~~新', '共<del>（舊）</del>新'],
    ['**`code`**的用法', '<strong><code>code</code></strong>的用法'],
    ['snake_case_name 與 2*3*4', 'snake_case_name 與 2<em>3</em>4'],
  ])('%s is marked up', (text, rendered) => {
    expect(paragraph(text)).toBe(rendered)
  })

  const link = (href: string, text = href) => `<a href="${href}">${text}</a>`
  it.each([
    ['網址是https://example.com請點擊', `網址是${link('https://example.com')}請點擊`],
    ['請看https://example.com/docs請點擊', `請看${link('https://example.com/docs')}請點擊`],
    ['見 https://example.com/a?b=1#c、以及', `見 ${link('https://example.com/a?b=1#c')}、以及`],
    ['（https://example.com/a_(b)）', `（${link('https://example.com/a_(b)')}）`],
    ['www.example.com/a请看', `${link('https://www.example.com/a', 'www.example.com/a')}请看`],
    ['寄到me@example.com謝謝', `寄到${link('mailto:me@example.com', 'me@example.com')}謝謝`],
    ['http://localhost:8000を開く', `${link('http://localhost:8000')}を開く`],
    ['https://example.com여기', `${link('https://example.com')}여기`],
    ['https://a例子.com', 'https://a例子.com'],
    ['https://shop.例子.com', 'https://shop.例子.com'],
  ])('%s has a link that ends where the address ends', (text, rendered) => {
    expect(paragraph(text)).toBe(rendered)
  })

  it('may be in the path of an address in brackets', () => {
    const path = '/%E6%96%87%E4%BB%B6'
    expect(paragraph('<https://example.com/文件>')).toContain(`href="https://example.com${path}"`)
    expect(paragraph('[文件](https://example.com/文件)')).toContain(`href="https://example.com${path}"`)
  })
})

describe('HTML', () => {
  it.each([
    ['H<sub>2</sub>O and x<SUP>*n*</SUP>', 'H<sub>2</sub>O and x<sup><em>n</em></sup>'],
    ['a<br>b<br/>c<br />d', 'a<br/>b<br/>c<br/>d'],
    ['<sub>a<sup>b</sup></sub>', '<sub>a<sup>b</sup></sub>'],
    ['<sub>not closed', '&lt;sub&gt;not closed'],
    ['<sub onclick="x">a</sub><b>c</b>', '&lt;sub onclick=&quot;x&quot;&gt;a&lt;/sub&gt;&lt;b&gt;c&lt;/b&gt;'],
    ['`<br>`', '<code>&lt;br&gt;</code>'],
  ])('%s has only line breaks, sub and sup', (text, rendered) => {
    expect(paragraph(text)).toBe(rendered)
  })

  it('has line breaks in a table', () => {
    expect(renderHtml('| a |\n|---|\n| x<br>y |')).toContain('<td>x<br/>y</td>')
  })
})

describe('a formula', () => {
  it.each([
    ['\\[ \\frac{a}{b} \\]', '<code>\\[ \\frac{a}{b} \\]</code>'],
    ['so \\(a_1 + b_1\\) and', 'so <code>\\(a_1 + b_1\\)</code> and'],
    ['$a*b$ and $c*d$', '<code>$a*b$</code> and <code>$c*d$</code>'],
    ['函數$f_1(x)_2$的', '函數<code>$f_1(x)_2$</code>的'],
    ['is $$\\int e^{-x^2}\\,dx$$.', 'is <code>$$\\int e^{-x^2}\\,dx$$</code>.'],
    ['**$x^*$**', '<strong><code>$x^*$</code></strong>'],
    ['\\$a*b$ costs', '$a*b$ costs'],
    ['from $5 to $10, *US$5*/$6', 'from $5 to $10, <em>US$5</em>/$6'],
    ['`\\(a\\)` is code', '<code>\\(a\\)</code> is code'],
    ['\\(not closed_a_', '(not closed_a_'],
  ])('%s is left as it is written', (text, rendered) => {
    expect(paragraph(text)).toBe(rendered)
  })

  it.each([
    '$$\na_1 + b_1\n- c*d*\n$$',
    '\\[\n\\begin{aligned}\na &= b \\\\\n  c &= d\n\\end{aligned}\n\\]',
    '$$ a\n= b $$',
  ])('of several lines is a block: %s', text => {
    const code = (formula: string) => `<code>${formula.replaceAll('&', '&amp;')}</code>`
    expect(renderHtml(`Before:\n${text}\nafter`)).toContain(code(text))
    expect(renderHtml(text, true)).toContain(code(text))
  })

  it.each([
    '$5 and $10',
    'from $5 to $10',
    '$5-$10, $20/$30',
    'US$5 and CA$10',
    'between 5$ and 10$',
    '$5 (or 10$)',
    '$1,000–$2,000',
    '$20k/$30k',
    '$HOME/$USER and $PATH',
    '共 $5 或 10$。',
    'NT$300、US$10',
    '$100’ or $200’',
  ])('is no amount of money: %s', text => {
    expect(paragraph(text)).toBe(text)
  })

  it.each(['$5$', '$2x + 3$', '$3 < x < 10$', '$10^{-3}$ m', '$2 \\cdot 5 \\text{ apples}$'])(
    'can begin with a number: %s',
    text => {
      expect(paragraph(text)).toContain('<code>')
    },
  )

  it('is not begun by a sign alone', () => {
    expect(renderHtml('$$\n\n- a')).toContain('<li>a</li>')
  })
})

it.each([
  [9, 1, undefined],
  [10, 1, 'tens'],
  [2, 9, 'tens'],
  [2, 99, 'hundreds'],
])('%i numbers from %i on have their space', (count, start, size) => {
  const text = Array.from({ length: count }, (_, index) => `${start + index}. a`).join('\n')
  const nested = text.replace(/^/gm, '   ')
  for (const rendered of [renderHtml(text), renderHtml(`- b\n\n${nested}`)])
    expect(/<ol[^>]*class="[^"]*?(tens|hundreds)/.exec(rendered)?.[1]).toBe(size)
})

describe('a footnote', () => {
  it('is shown where it is written', () => {
    const rendered = withoutAttributes(renderHtml('Text[^1] and[^a]\n\n[^1]: a **note**\n[^a]: 註解'))
    expect(rendered).toContain('<p>Text<sup>1</sup> and<sup>a</sup></p>')
    expect(rendered).toContain('<div><sup>1</sup><div><p>a <strong>note</strong></p></div></div>')
    expect(rendered).toContain('<div><sup>a</sup><div><p>註解</p></div></div>')
  })

  it('that nothing refers to, or that is missing, loses no text', () => {
    expect(withoutAttributes(renderHtml('[^x]: alone'))).toContain('<p>alone</p>')
    expect(paragraph('Text[^1]')).toBe('Text[^1]')
    expect(renderHtml('a[^1]\n\n[^1]: one\n\n    two')).toContain('two')
  })
})

describe('the text of a link', () => {
  it('counts as its URL only if it is literally the same', () => {
    expect(isTextOfHost('https://a.example/b', 'a.example')).toBe(true)
    expect(isTextOfHost('HTTPS://A.example', 'a.example')).toBe(true)
    expect(isTextOfHost('https://evil.example@a.example', 'a.example')).toBe(false)
    expect(isTextOfHost('https://a.example\\@evil.example', 'a.example')).toBe(false)
    expect(isTextOfHost('https://а.example', getHost('https://а.example') ?? '')).toBe(false)
  })
})

describe('a streaming text', () => {
  const text = Array.from({ length: 60 }, (_, n) => `- item ${n} with **words**`).join('\n')

  it('is rendered the same as after its end', () => {
    for (const source of [
      text,
      '```py\na',
      'a\n\n- b\n  - c\n\n> d',
      '|a|\n|-|\n|b|',
      'x [a][r]\n\n[r]: https://a.example',
    ])
      expect(renderHtml(source, true)).toBe(renderHtml(source, false))
  })

  it('is parsed once when it is rendered again', () => {
    const parse = vi.spyOn(markdown, 'parse')
    renderHtml(`${text} once`)
    renderHtml(`${text} once`, true)
    expect(parse).toHaveBeenCalledTimes(1)
    parse.mockRestore()
  })
})

describe('citations', () => {
  it('splits a text at the numbers in brackets', () => {
    expect(splitCitations('It is 4711 [#31], [#7][#x] #8').map(segment => segment.seq)).toEqual([
      null,
      31,
      null,
      7,
      null,
    ])
    expect(splitCitations('[#12]')).toEqual([{ text: '[#12]', seq: 12 }])
  })

  it('are buttons only where a text cites messages, and never in code', () => {
    const text = 'See [#31] and `[#7]`, @bob'
    const html = (open: (() => void) | null) =>
      renderToStaticMarkup(
        <CitationContext value={open}>
          <Prose text={text} findName={findNoName} />
        </CitationContext>,
      )
    expect(html(() => undefined).match(/<button[^>]*aria-label="[^"]*"/g)).toEqual([
      expect.stringContaining('Open message 31'),
    ])
    expect(html(null)).not.toContain('<button')
    expect(html(null)).toContain('See [#31]')
  })
})
