import { beforeAll, expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import { highlightCode } from './colours'
import { Prose } from './Prose'
import { markdown } from './parse'

const findNoName = () => null
const text = 'First **words**.\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```py\nprint(1)\n```'

/** Load the worker first, because the development server may take longer for its files than the timeout. */
beforeAll(() => vi.waitFor(async () => expect(await highlightCode('1', 'py')).not.toBeNull(), 60_000), 60_000)

it('keeps every element when a streaming text ends, and highlights its code then', async () => {
  const screen = await render(<Prose text={text} findName={findNoName} growing />)
  const before = [...screen.container.querySelectorAll('p, ul, li, table, td, [data-code], pre, button')]
  expect(before.length).toBeGreaterThan(8)
  expect(screen.container.querySelector('.hljs-built_in')).toBeNull()
  await screen.rerender(<Prose text={text} findName={findNoName} />)
  await vi.waitFor(() => expect(screen.container.querySelector('.hljs-built_in')?.textContent).toBe('print'), 10_000)
  for (const element of before) expect(element.isConnected).toBe(true)
})

it('renders only what was added to a streaming text', async () => {
  const screen = await render(<Prose text={text} findName={findNoName} growing />)
  const [first] = screen.container.querySelectorAll('p')
  const words = first?.querySelector('strong')?.firstChild
  await screen.rerender(<Prose text={`${text}\n\nThe end.`} findName={findNoName} growing />)
  await expect.element(screen.getByText('The end.')).toBeInTheDocument()
  expect(words?.isConnected).toBe(true)
})

it('does not parse the text again when a name changes', async () => {
  const names = (name: string) => (handle: string) => (handle === 'bob' ? { name, isMe: false } : null)
  const screen = await render(<Prose text="Hello @bob." findName={names('Bob')} />)
  await expect.element(screen.getByText('@Bob')).toBeVisible()
  const parse = vi.spyOn(markdown, 'parse')
  await screen.rerender(<Prose text="Hello @bob." findName={names('Robert')} />)
  await expect.element(screen.getByText('@Robert')).toBeVisible()
  expect(parse).not.toHaveBeenCalled()
  parse.mockRestore()
})

it('shows the end of a very long text on request', async () => {
  const long = `${'A line.\n'.repeat(15_000)}The very last words.`
  const screen = await render(<Prose text={long} findName={findNoName} />)
  await expect.element(screen.getByText('The very last words.')).not.toBeInTheDocument()
  await screen.getByRole('button', { name: 'Show all' }).click()
  await expect.element(screen.getByText('The very last words.')).toBeInTheDocument()
})

it('copies a table as CSV', async () => {
  const write = vi.spyOn(navigator.clipboard, 'writeText').mockResolvedValue()
  const screen = await render(<Prose text={'| a, b | c |\n|---|---|\n| =1+1 | -2 |'} findName={findNoName} />)
  await screen.getByRole('button', { name: 'Copy as CSV' }).click()
  await expect.element(screen.getByRole('button', { name: 'Copied' })).toBeVisible()
  expect(write.mock.calls).toEqual([['"a, b",c\r\n\'=1+1,-2\r\n']])
  write.mockRestore()
})

it('draws formulas when a text has ended, and copies them as they were written', async () => {
  const text =
    'So $\\mathbb{R} \\cancel{x}$ costs $5.\n\n$$\n\\begin{aligned} a &= b \\\\ c &= d \\end{aligned}\n$$\n\nThe end.'
  const screen = await render(<Prose text={text} findName={findNoName} growing />)
  await screen.rerender(<Prose text={text} findName={findNoName} />)
  await vi.waitFor(() => expect(screen.container.querySelectorAll('math')).toHaveLength(2), 10_000)
  const [inline, block] = screen.container.querySelectorAll('math')
  expect(inline?.textContent).toBe('ℝx')
  expect(block?.getAttribute('display')).toBe('block')
  expect(block?.querySelectorAll('mtd')).toHaveLength(4)
  getSelection()?.selectAllChildren(screen.container)
  const copied = getSelection()?.toString() ?? ''
  expect(copied).toContain('$\\mathbb{R} \\cancel{x}$ costs $5.')
  expect(copied).toContain('a &= b \\\\')
  expect(copied).not.toContain('ℝ')
})

const shownAsWritten = {
  wrong: '\\frac{a',
  unknown: '\\nosuchcommand x',
  'nested too deeply': `${'\\sqrt{'.repeat(80)}x${'}'.repeat(80)}`,
  'a definition': `\\def\\a{${'x'.repeat(900)}}${'\\a'.repeat(400)}`,
}

it.each(Object.keys(shownAsWritten))('shows a formula as it was written: %s', async name => {
  const formula = shownAsWritten[name as keyof typeof shownAsWritten]
  const screen = await render(<Prose text={`$${formula}$ and $y$`} findName={findNoName} />)
  await vi.waitFor(() => expect(screen.container.querySelectorAll('math')).toHaveLength(1), 10_000)
  expect(screen.container.querySelector('code')?.textContent).toBe(`$${formula}$`)
})

it('draws no link, image, style or script of a formula', async () => {
  const hostile = [
    '\\href{javascript:alert(1)}{a}',
    '\\url{https://evil.example}',
    '\\includegraphics{https://evil.example/a.png}',
    '\\htmlStyle{position:fixed}{a}',
    '\\htmlClass{x}{a}',
    '\\htmlData{a=b}{a}',
    '\\text{<img src=x onerror=alert(1)>}',
    '\\color{red}a\\colorbox{red}{b}\\fbox{c}',
  ]
  const text = `${hostile.map(formula => `$${formula}$`).join('\n\n')}\n\n$y$`
  const screen = await render(<Prose text={text} findName={findNoName} />)
  await vi.waitFor(() => expect(screen.container.querySelector('p:last-child math')).not.toBeNull(), 10_000)
  expect(screen.container.querySelector('a, img, script, [style], [href], [src], [onerror]')).toBeNull()
})

it('skips the highlighting of code that takes too long', async () => {
  const slow = `\`\`\`c\n${`${'a '.repeat(490)}\n`.repeat(20)}\`\`\``
  const screen = await render(<Prose text={`${slow}\n\n${text}`} findName={findNoName} />)
  await vi.waitFor(() => expect(screen.container.querySelector('.hljs-built_in')?.textContent).toBe('print'), 14_000)
})

it('replaces named entities, and leaves other text as it is', async () => {
  const text = '&lt;b&gt; &amp;amp; &copy; &nvlt; &Afr; &NotEqualTilde; &fjlig; &notit; &copyx; &nosuch; &amp'
  const screen = await render(<Prose text={text} findName={findNoName} />)
  const entities = '<b> &amp; © <\u20d2 \u{1d504} \u2242\u0338 fj &notit; &copyx; &nosuch; &amp'
  expect(screen.container.textContent).toBe(entities)
  expect(screen.container.querySelector('b')).toBeNull()
})
