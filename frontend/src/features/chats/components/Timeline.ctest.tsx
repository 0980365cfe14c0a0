import { afterEach, expect, it, vi } from 'vitest'
import { userEvent } from 'vitest/browser'
import { render } from 'vitest-browser-react'
import type { ActorRow, DraftRow, MessageRow } from '@/api'
import { buildChatContext, emptyPart as part, nothingUnread as reading } from '@/testing/chatContext'
import { closeChat, loadChat } from '@/testing/chatSocket'
import { type MessageChange, messageRow, systemRow } from '@/testing/rows'
import { markdown } from '@/ui/prose/parse'
import type { Target } from '../scrollToMessage'
import { buildItems } from '../timeline'
import { ChatContext } from './ChatContext'
import { Timeline } from './Timeline'

const noop = () => undefined
const context = buildChatContext()

const row = (seq: number, more: MessageChange = {}) =>
  messageRow(seq, { author_id: 'bob', payload: { text: `text ${seq}` }, ...more })

const log = (messages: readonly MessageRow[], value = context, target: Target | null = null) => {
  const items = buildItems({ messages, unsent: [], active: [], unreadAfter: null, me: 'alice' })
  const props = { items, messages, part, reading, target, goTo: noop, ref: null }
  return (
    <ChatContext value={value}>
      <div style={{ display: 'grid', height: '600px' }}>
        <Timeline {...props} />
      </div>
    </ChatContext>
  )
}
const show = (messages: readonly MessageRow[]) => render(log(messages))

afterEach(() => {
  vi.restoreAllMocks()
})

it('shows the other messages when a newer server sends rows that cannot be rendered', async () => {
  vi.spyOn(console, 'error').mockReturnValue()
  const screen = await show([
    row(1),
    row(2, { type: 'COMPARISON', payload: { sides: [] } }),
    row(3, { type: 'HOLOGRAM', payload: {} }),
    row(4, { run_id: 'r', type: 'TOOL_CALL', payload: { call_id: 'a', name: 'look', arguments: { not: 'text' } } }),
    row(5, { run_id: 'r', payload: { text: 'the answer' } }),
    row(6, { payload: { text: { not: 'text' } } }),
    row(7),
  ])
  await expect.element(screen.getByText('text 1')).toBeVisible()
  await expect.element(screen.getByText('the answer')).toBeVisible()
  await expect.element(screen.getByText('text 7')).toBeVisible()
  await expect.element(screen.getByText("This part couldn't be shown.").first()).toBeVisible()
  expect(screen.getByRole('button', { name: 'Try again' }).elements().length).toBeGreaterThan(0)
})

it('shows in the footer of a reply what all its steps have used, also those above a message of another person', async () => {
  const stamp = (tokens: number) => ({ provider: 'openai', model: 'scripted', input_tokens: tokens, output_tokens: 0 })
  const call = { call_id: 'a', name: 'look', arguments: '{}' }
  const screen = await show([
    row(1),
    row(2, { run_id: 'r', author_id: 'robin', type: 'TOOL_CALL', payload: { ...call, stamp: stamp(1_000) } }),
    row(3, { author_id: 'alice' }),
    row(4, { run_id: 'r', author_id: 'robin', type: 'TOOL_RESPONSE', payload: { tool_call_id: 'a', text: 'found' } }),
    row(5, { run_id: 'r', author_id: 'robin', payload: { text: 'the answer', stamp: stamp(200) } }),
  ])
  await expect.element(screen.getByRole('button', { name: /tokens/ })).toHaveTextContent('1,200 tokens')
})

it.each([true, false])('offers a retry unless the agent was taken down (%s)', async is_taken_down => {
  const robin = { id: 'robin', name: 'Robin', kind: 'agent', is_taken_down } as unknown as ActorRow
  const end = systemRow('RUN_FAILED', { code: 'agent_taken_down' }, { id: 'm3', seq: 3, run_id: 'r' })
  const messages = [row(1), row(2, { run_id: 'r', author_id: 'robin', payload: { text: 'half' } }), end]
  const screen = await render(log(messages, { ...context, findActor: () => robin }))
  await expect.element(screen.getByText('half')).toBeVisible()
  await expect.element(screen.getByText(/was taken down/)).toBeVisible()
  await expect.poll(() => screen.getByRole('button', { name: 'Retry' }).elements().length).toBe(is_taken_down ? 0 : 1)
})

it('offers no retry of a failed answer below which another attempt has answered', async () => {
  const end = systemRow(
    'RUN_FAILED',
    { code: 'cut', target_id: 'robin', message_id: 'm1' },
    { id: 'm2', seq: 2, run_id: 'r' },
  )
  const answer = row(3, { run_id: 'again', author_id: 'robin', payload: { text: 'whole', answers: 'm1' } })
  const messages = [row(1), end, answer]
  await loadChat([row(1), end])
  const screen = await show(messages.slice(0, 2))
  await expect.element(screen.getByRole('button', { name: 'Retry' })).toBeVisible()
  await screen.unmount()
  closeChat()
  await loadChat(messages)
  const later = await show(messages)
  await expect.element(later.getByText('This attempt ended without an answer')).toBeVisible()
  await expect.element(later.getByRole('button', { name: 'Retry' })).not.toBeInTheDocument()
  closeChat()
})

it('offers a comparison at the answers of an agent that has a draft, and at the messages of people', async () => {
  const draft = { kind: 'draft', id: 'd', chat_id: 'c', version: 1, agent_id: 'robin', applied: {}, status: 'active' }
  await loadChat([draft as unknown as DraftRow])
  const compare = vi.fn()
  const findActor = (id: string | null | undefined) =>
    id ? ({ id, name: id, kind: id === 'bob' ? 'human' : 'agent' } as unknown as ActorRow) : null
  const answer = (seq: number, author_id: string) =>
    row(seq, { run_id: `r${seq}`, author_id, payload: { text: `answer ${seq}` } })
  const messages = [row(1), answer(2, 'robin'), answer(3, 'scribe')]
  const screen = await render(log(messages, buildChatContext({ compare, findActor })))
  await expect.element(screen.getByText('answer 3')).toBeVisible()
  const buttons = screen.getByRole('button', { name: 'Compare…', includeHidden: true })
  await expect.poll(() => buttons.elements().length).toBe(2)
  for (const button of buttons.elements()) (button as HTMLElement).click()
  expect(compare.mock.calls.map(([message]) => message.id)).toEqual(['m1', 'm2'])
  closeChat()
})

const many = Array.from({ length: 400 }, (_, index) => row(index + 1, { author_id: `p${index}` }))

it('keeps the focus on a message that is scrolled out of view', async () => {
  const screen = await show(many)
  await expect.element(screen.getByText('text 400')).toBeVisible()
  const message = screen.getByText('text 400').element().closest('article')
  message?.focus()
  await vi.waitFor(() => expect(document.activeElement).toBe(message))
  const scroller = screen.getByRole('log').element()
  scroller.dispatchEvent(new WheelEvent('wheel', { bubbles: true }))
  scroller.scrollTop = 0
  await expect.element(screen.getByText('text 1', { exact: true })).toBeVisible()
  expect(document.activeElement).toBe(message)
  expect(message?.isConnected).toBe(true)
})

it('marks the message that was reached as the current one until another is reached', async () => {
  const screen = await show(many)
  const current = () => [...screen.container.querySelectorAll('[aria-current]')].map(element => element.textContent)
  await screen.rerender(log(many, context, { id: 'm3', number: 1 }))
  await expect.poll(current).toEqual([expect.stringMatching(/text 3$/)])
  expect(document.activeElement?.textContent).toMatch(/text 3$/)
  await screen.rerender(log(many, context, { id: 'm5', number: 2 }))
  await expect.poll(current).toEqual([expect.stringMatching(/text 5$/)])
})

it('does not parse messages again when another one arrives', async () => {
  const parse = vi.spyOn(markdown, 'parse')
  const parsed = () => parse.mock.calls.map(([text]) => text)
  const rows = many.map(message => row(message.seq, { ...message, payload: { text: `once ${message.seq}` } }))
  const screen = await show(rows)
  await vi.waitFor(() => expect(parsed()).toContain('once 400'), 10_000)
  await vi.waitFor(() => expect(screen.container.querySelector('[data-plain]')).toBeNull(), 10_000)
  const before = new Set(parsed())
  parse.mockClear()
  await screen.rerender(log([...rows, row(401, { author_id: 'new', payload: { text: 'once 401' } })]))
  await vi.waitFor(() => expect(parsed()).toContain('once 401'), 10_000)
  expect(parsed().filter(text => before.has(text))).toEqual([])
})

const withNeighbours = (messages: readonly MessageRow[]) => (
  <>
    <button type="button">before</button>
    {log(messages)}
    <textarea aria-label="after" />
  </>
)
const focusedText = () => document.activeElement?.textContent ?? ''
const press = (keys: string) => userEvent.keyboard(keys)
const messagesWithLinks = Array.from({ length: 5 }, (_, index) =>
  row(index + 1, { author_id: `p${index}`, payload: { text: `text ${index + 1} [a link](https://example.org)` } }),
)

it('has one tab stop from both sides, which focuses the newest message', async () => {
  const screen = await render(withNeighbours(messagesWithLinks))
  await expect.element(screen.getByRole('link').first()).toBeVisible()
  screen.getByText('before').element().focus()
  await press('{Tab}')
  await vi.waitFor(() => expect(focusedText()).toContain('text 5'))
  expect(document.activeElement?.getAttribute('role') ?? document.activeElement?.tagName).toBe('ARTICLE')
  await press('{Shift>}{Tab}{/Shift}')
  expect(focusedText()).toBe('before')

  screen.getByLabelText('after').element().focus()
  await press('{Shift>}{Tab}{/Shift}')
  await vi.waitFor(() => expect(focusedText()).toContain('text 5'))
})

it('moves between messages with the arrow keys, and with Tab through the focused message and out', async () => {
  const screen = await render(withNeighbours(messagesWithLinks))
  await expect.element(screen.getByRole('link').first()).toBeVisible()
  screen.getByText('before').element().focus()
  await press('{Tab}')
  await vi.waitFor(() => expect(focusedText()).toContain('text 5'))
  await press('{ArrowUp}{ArrowUp}k')
  expect(focusedText()).toContain('text 2')
  await press('{ArrowDown}')
  expect(focusedText()).toContain('text 3')

  // To its link, its reply button, and out, skipping the links of other messages.
  const message = document.activeElement
  await press('{Tab}')
  expect(document.activeElement?.matches('a')).toBe(true)
  expect(message?.contains(document.activeElement)).toBe(true)
  await press('{Tab}')
  expect(document.activeElement?.getAttribute('aria-label')).toBe('Reply')
  await press('{Tab}')
  expect(document.activeElement?.getAttribute('aria-label')).toBe('More')
  await press('{Tab}')
  expect(document.activeElement).toBe(screen.getByLabelText('after').element())

  // Shift+Tab goes back to the same message, Enter to its actions, Escape to the message.
  await press('{Shift>}{Tab}{/Shift}')
  await vi.waitFor(() => expect(document.activeElement).toBe(message))
  await press('{Enter}')
  expect(document.activeElement?.getAttribute('aria-label')).toBe('Reply')
  await press('{Escape}')
  expect(document.activeElement).toBe(message)
})

it('names a message by its author and time and describes it by its text', async () => {
  const screen = await show([
    row(1),
    row(2, { type: 'MEMBER_JOINED', payload: { actor_name: 'Bob' }, author_id: null }),
  ])
  const article = screen.getByRole('article')
  await expect.element(article).toHaveAccessibleName(/^Someone, /)
  await expect.element(article).toHaveAccessibleDescription('text 1')
  await expect.element(screen.getByRole('group')).toHaveAccessibleName(/Bob/)
})

it('moves on from a focused message that is far out of view', async () => {
  const screen = await show(many)
  await expect.element(screen.getByText('text 400')).toBeVisible()
  screen.getByText('text 400').element().closest('article')?.focus()
  const scroller = screen.getByRole('log').element()
  scroller.dispatchEvent(new WheelEvent('wheel', { bubbles: true }))
  scroller.scrollTop = 0
  await expect.element(screen.getByText('text 1', { exact: true })).toBeVisible()
  await press('{ArrowUp}')
  await vi.waitFor(() => expect(focusedText()).toContain('text 399'))
  await press('{Home}')
  await vi.waitFor(() => expect(focusedText()).toMatch(/text 1$/))
})

it('copies by the menu of a message, which leads back to the message', async () => {
  const copy = vi.fn()
  const screen = await render(log([row(1)], { ...context, copy }))
  await userEvent.hover(screen.getByText('text 1'))
  const message = screen.getByRole('article').element()
  await screen.getByRole('button', { name: 'More' }).click()
  await userEvent.hover(screen.getByRole('menu'))
  await expect.element(screen.getByRole('menuitem').first()).toHaveTextContent('Copy textC')
  await screen.getByRole('menuitem', { name: 'Copy as Markdown' }).click()
  expect(copy.mock.calls).toEqual([['m1', 'markdown']])
  await vi.waitFor(() => expect(document.activeElement).toBe(message))
})

const touch = (type: string, target: Element, x = 50) =>
  target.dispatchEvent(
    new PointerEvent(type, { bubbles: true, cancelable: true, pointerType: 'touch', clientX: x, clientY: 50 }),
  )

it('marks a message on a long press and keeps the selection', async () => {
  const screen = await show(messagesWithLinks)
  await expect.element(screen.getByRole('link').first()).toBeVisible()
  const message = screen.getByText('text 3').element().closest('article') as HTMLElement
  const selected = screen.getByText('text 1').element()
  getSelection()?.selectAllChildren(selected)

  // A finger that scrolls presses noop.
  touch('pointerdown', message)
  touch('pointermove', message, 90)
  const later = screen.getByText('text 4').element().closest('article') as HTMLElement
  touch('pointerdown', later)
  await vi.waitFor(() => expect(later.dataset['acting']).toBe(''))
  expect(message.dataset['acting']).toBeUndefined()
  expect(later.querySelector('[role=toolbar]:popover-open')).not.toBeNull()
  expect(getSelection()?.toString()).toContain('text 1')
  expect(later.dispatchEvent(new MouseEvent('contextmenu', { bubbles: true, cancelable: true }))).toBe(true)
  touch('pointerup', later)

  touch('pointerdown', document.body)
  expect(later.dataset['acting']).toBeUndefined()
  expect(later.querySelector('[role=toolbar]:popover-open')).toBeNull()
})
