import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { page } from 'vitest/browser'
import { render } from 'vitest-browser-react'
import type { MessageMetadata, MessageRow, SubAgentResult } from '@/api'
import { buildChatContext, emptyPart as part, nothingUnread as reading } from '@/testing/chatContext'
import { answerRequests, withQueries } from '@/testing/restServer'
import { type MessageChange, messageRow } from '@/testing/rows'
import { markdown } from '@/ui/prose/parse'
import { buildItems } from '../timeline'
import { ChatContext } from './ChatContext'
import { Timeline } from './Timeline'

const noop = () => undefined
const context = buildChatContext()

const row = (seq: number, runId: string, more: MessageChange = {}) =>
  messageRow(seq, { run_id: runId, author_id: 'robin', payload: { text: `text ${seq}` }, ...more })
const call = (seq: number, runId: string, callId: string, task: string, more: object = {}) =>
  row(seq, runId, {
    type: 'TOOL_CALL',
    payload: {
      call_id: callId,
      name: 'delegate',
      arguments: JSON.stringify({ name: 'reader', task, ...more }),
      step: 1,
    },
  })
const result = (seq: number, runId: string, callId: string, data: Partial<SubAgentResult>) =>
  row(seq, runId, {
    type: 'TOOL_RESPONSE',
    payload: { tool_call_id: callId, name: 'delegate', status: 'ok', text: 'for the model', data },
  })
const metadata = (callId: string, name: string): MessageMetadata => ({
  agent: { kind: 'sub', name, displayName: name, depth: 1, path: ['robin', name] },
  call_id: callId,
  avatar: null,
})
const done = (runId: string, more: Partial<SubAgentResult> = {}): SubAgentResult => ({
  kind: 'sub_agent',
  run_id: runId,
  agent_id: 'a',
  name: 'A',
  state: 'completed',
  summary: 'It is 42.',
  steps: 1,
  cost_micro: 0,
  seconds: 31,
  ...more,
})

function log(messages: readonly MessageRow[]) {
  const items = buildItems({ messages, unsent: [], active: [], unreadAfter: null, me: 'alice' })
  return withQueries(
    <ChatContext value={context}>
      <div style={{ display: 'grid', height: '600px' }}>
        <Timeline
          items={items}
          messages={messages}
          part={part}
          reading={reading}
          target={null}
          goTo={noop}
          ref={null}
        />
      </div>
    </ChatContext>,
  )
}
const show = (messages: readonly MessageRow[]) => render(log(messages))

beforeEach(() => page.viewport(1200, 800))

afterEach(() => {
  vi.restoreAllMocks()
})

it('folds a sub-agent that has ended to one line with its summary, in place of its call', async () => {
  const reader = { metadata: metadata('a', 'Reader'), author_id: 'reader' }
  const screen = await show([
    call(1, 'r', 'a', 'Read it'),
    row(2, 'r1', { ...reader, payload: { text: 'The whole answer.' } }),
    result(3, 'r', 'a', done('r1')),
    row(4, 'r', { payload: { text: 'So it is.' } }),
  ])
  await expect.element(screen.getByText('So it is.')).toBeVisible()
  expect(screen.getByRole('article').elements()).toHaveLength(1)
  const head = screen.getByRole('button', { name: 'Reader It is 42.' })
  await expect.element(head).toHaveAttribute('aria-expanded', 'false')
  await expect.element(screen.getByText('done')).toBeVisible()
  await expect.element(screen.getByText('31 s')).toBeVisible()
  expect(screen.getByText('The whole answer.').elements()).toEqual([])
  await head.click()
  await expect.element(screen.getByText('The whole answer.')).toBeVisible()
  await expect.element(screen.getByText('Task · Read it')).toBeVisible()
  // The call itself, with the text for the model, is not shown a second time.
  expect(screen.getByText('for the model').elements()).toEqual([])
})

it('shows the facts and the files that a sub-agent was given', async () => {
  const names: Record<string, { name: string; chat_id: string }> = {
    f1: { name: 'prices.csv', chat_id: 'c' },
    f2: { name: 'rooms.pdf', chat_id: 'c' },
    other: { name: 'of-another-chat.pdf', chat_id: 'd' },
  }
  const requests = answerRequests(({ path }) => {
    const id = path.split('/')[2] ?? ''
    return id in names
      ? [200, { id, posted: true, ...names[id] }]
      : [404, { error: { code: 'not_found', message: '' } }]
  })
  const reader = { metadata: metadata('a', 'Reader'), author_id: 'reader' }
  const { agent } = reader.metadata
  const below = { ...metadata('b', 'Deep'), agent: { ...agent, displayName: 'Deep', path: [...agent.path, 'Deep'] } }
  const screen = await show([
    call(1, 'r', 'a', 'Read it', {
      context: { city: 'Kyoto', years: [2025, 2026] },
      options: { file_ids: ['f1', 'hidden', 'other'] },
    }),
    { ...call(2, 'r1', 'b', 'Read on', { options: { file_ids: ['f1', 'f2'] } }), metadata: reader.metadata },
    row(3, 'r2', { metadata: below, payload: { text: 'The prices.' } }),
    row(4, 'r1', { ...reader, payload: { text: 'The whole answer.' } }),
  ])
  const unfold = screen.getByRole('button', { name: 'Unfold all' })
  await expect.element(unfold).toBeVisible()
  // Nothing is read while they are folded.
  expect(requests).toEqual([])
  await unfold.click()
  const files = screen.getByRole('list', { name: 'Files of the task' })
  await expect.element(files.first().getByText('A file that was deleted, or that you may not see')).toBeVisible()
  const linksOf = (index: number) =>
    files
      .nth(index)
      .getByRole('link')
      .elements()
      .map(link => [link.textContent, link.getAttribute('href'), link.getAttribute('download')])
  expect(linksOf(0)).toEqual([['prices.csv', '/api/v1/files/f1/content', 'prices.csv']])
  // The reader was not given f2, so it could not pass it on.
  await vi.waitFor(() => expect(linksOf(1)).toEqual([['prices.csv', '/api/v1/files/f1/content', 'prices.csv']]))
  expect(screen.getByText('rooms.pdf').elements()).toEqual([])
  expect(screen.getByText('of-another-chat.pdf').elements()).toEqual([])
  await screen.getByRole('button', { name: /^Context · city: Kyoto/ }).click()
  await expect.element(screen.getByText('city: Kyoto years: [2025,2026]', { exact: true })).toBeVisible()
})

it('says why a sub-agent failed', async () => {
  const reader = { metadata: metadata('a', 'Reader'), author_id: null }
  const failed = row(2, 'r1', {
    ...reader,
    type: 'RUN_FAILED',
    payload: { run_id: 'r1', target_id: 'reader', code: 'step_limit', note: '' },
  })
  const screen = await show([call(1, 'r', 'a', 'Read it'), failed])
  await expect.element(screen.getByText('failed')).toBeVisible()
  await screen.getByRole('button', { name: /^Reader It reached its step limit/ }).click()
  await expect.element(screen.getByText(/It has no Retry of its own: retry the reply of robin/)).toBeVisible()
  expect(screen.getByRole('button', { name: 'Retry' }).elements()).toEqual([])
})

it('counts the sub-agents by their states, and folds and unfolds all', async () => {
  const [one, two] = [metadata('a', 'One'), metadata('b', 'Two')]
  const screen = await show([
    call(1, 'r', 'a', 'first'),
    call(2, 'r', 'b', 'second'),
    row(3, 'r1', { metadata: one, payload: { text: 'I am done.' } }),
    row(4, 'r2', { metadata: two, payload: { text: 'I was stopped.' } }),
    row(5, 'r2', { metadata: two, type: 'RUN_STOPPED', author_id: null, payload: { run_id: 'r2', target_id: 'two' } }),
  ])
  await expect.element(screen.getByText('2 sub-agents')).toBeVisible()
  await expect.element(screen.getByText('1 done · 1 stopped')).toBeVisible()
  const expanded = () => [...screen.container.querySelectorAll('[data-sub-agent] [aria-expanded="true"]')].length
  expect(expanded()).toBe(0)
  await screen.getByRole('button', { name: 'Unfold all' }).click()
  await vi.waitFor(() => expect(expanded()).toBe(2))
  await screen.getByRole('button', { name: 'Fold all', exact: true }).click()
  await vi.waitFor(() => expect(expanded()).toBe(0))
})

it('renders only the stream that has a new row, among hundreds of rows', async () => {
  const messages: MessageRow[] = []
  for (let index = 0; index < 20; index += 1) messages.push(call(messages.length + 1, 'r', `c${index}`, ''))
  for (let index = 0; index < 300; index += 1) {
    const one = metadata(`c${index % 20}`, `Agent ${index % 20}`)
    messages.push(row(messages.length + 1, `r${index % 20}`, { metadata: one, payload: { text: `row ${index}` } }))
  }
  const parse = vi.spyOn(markdown, 'parse')
  const parsed = () => parse.mock.calls.map(([text]) => text)
  const screen = await show(messages)
  // Not by the pointer: the log scrolls to its end meanwhile, and a click may miss the button.
  const unfold = screen.getByRole('button', { name: 'Unfold all' })
  await expect.element(unfold).toBeVisible()
  unfold.element().dispatchEvent(new MouseEvent('click', { bubbles: true }))
  await vi.waitFor(() => expect(new Set(parsed().filter(text => text.startsWith('row '))).size).toBe(300), 10_000)
  await vi.waitFor(() => expect(screen.container.querySelector('[data-plain]')).toBeNull(), 10_000)
  parse.mockClear()
  const last = row(messages.length + 1, 'r7', { metadata: metadata('c7', 'Agent 7'), payload: { text: 'row 300' } })
  await screen.rerender(log([...messages, last]))
  await vi.waitFor(() => expect(parsed()).toContain('row 300'), 10_000)
  expect(parsed().filter(text => text !== 'row 300')).toEqual([])
})
