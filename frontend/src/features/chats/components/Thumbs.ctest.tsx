import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import type { ActorRow, TextMessageRow, ThumbRow } from '@/api'
import { buildChatContext } from '@/testing/chatContext'
import { answerRequests, page, withQueries } from '@/testing/restServer'
import { messageRow } from '@/testing/rows'
import { findAnswer, openThumbForm } from '../thumbs'
import { ChatContext } from './ChatContext'
import { Actions } from './MessageParts'
import { Thumbs } from './Thumbs'

const actors = [
  { id: 'robin', kind: 'agent', name: 'Robin' },
  { id: 'alice', kind: 'human', name: 'Alice' },
  { id: 'bob', kind: 'human', name: 'Bob' },
] as unknown as ActorRow[]
const findActor = (id: string | null | undefined) => actors.find(actor => actor.id === id) ?? null

const answer = (more: Partial<TextMessageRow> = {}) =>
  messageRow(2, { author_id: 'robin', run_id: 'r', payload: { text: 'We are 12.' }, ...more }) as TextMessageRow

let own: ThumbRow[]
let requests: ReturnType<typeof answerRequests>

beforeEach(() => {
  own = []
  requests = answerRequests(({ method }) => (method === 'GET' ? [200, page(own)] : [200, answer()]))
})
afterEach(() => {
  openThumbForm.set(null)
  vi.restoreAllMocks()
})

const show = (
  row: TextMessageRow,
  toggleThumb: ((row: TextMessageRow, value: 'up' | 'down') => void) | null = vi.fn(),
) =>
  render(
    withQueries(
      <ChatContext value={buildChatContext({ findActor, toggleThumb })}>
        <Actions row={row} isAnswer />
        <Thumbs row={row} />
      </ChatContext>,
    ),
  )

it('counts who finds an answer good or bad, and marks the own thumb', async () => {
  const screen = await show(answer({ thumbs: { up: ['bob'], down: ['alice'] } }))
  await expect.element(screen.getByRole('img', { name: 'Good answer: Bob' })).toBeVisible()
  await expect.element(screen.getByRole('img', { name: 'Bad answer: Alice' })).toBeVisible()
  await expect.element(screen.getByRole('button', { name: 'Bad answer' })).toHaveAttribute('aria-pressed', 'true')
  await expect.element(screen.getByRole('button', { name: 'Good answer' })).toHaveAttribute('aria-pressed', 'false')
})

it('sends what was wrong, and shows it to its author', async () => {
  openThumbForm.set('m2')
  const screen = await show(answer({ thumbs: { up: [], down: ['alice'] } }))
  const words = screen.getByRole('textbox', { name: 'What was wrong?' })
  await expect.element(words).toHaveFocus()
  await words.fill('We are 14.')
  await screen.getByRole('button', { name: 'Wrong fact' }).click()
  own = [
    { message_id: 'm2', value: 'down', reason: 'wrong_fact', text: 'We are 14.', created_at: '2026-11-20T10:00:00Z' },
  ]
  await screen.getByRole('button', { name: 'Send' }).click()
  await expect.element(screen.getByText('You: Wrong fact · We are 14.')).toBeVisible()
  await expect.element(words).not.toBeInTheDocument()
  const [sent] = requests.filter(({ method }) => method === 'PUT')
  expect([sent?.path, sent?.body]).toEqual([
    '/chats/c/messages/m2/thumb',
    { value: 'down', reason: 'wrong_fact', text: 'We are 14.' },
  ])
  await screen.getByRole('button', { name: 'Change' }).click()
  await expect.element(words).toHaveValue('We are 14.')
})

it('offers no thumb on what is no answer, nor to those who only read', async () => {
  const greeting = await show(answer({ payload: { text: 'Hello', greeting: true } as TextMessageRow['payload'] }))
  await expect.element(greeting.getByRole('button', { name: 'Good answer' })).not.toBeInTheDocument()
  await greeting.unmount()
  const screen = await show(answer(), null)
  await expect.element(screen.getByRole('button', { name: 'Good answer' })).not.toBeInTheDocument()
})

it('finds the last text of a reply as its answer', () => {
  const rows = [
    messageRow(1),
    messageRow(2, { author_id: 'robin', run_id: 'r', type: 'THINKING' }),
    messageRow(3, { author_id: 'robin', run_id: 'r' }),
    messageRow(4, { author_id: 'robin', run_id: 'r', type: 'TOOL_CALL' }),
    messageRow(5, { author_id: 'robin', run_id: 'r' }),
  ]
  const chat = { log: rows, rows: { message: new Map(rows.map(row => [row.id, row])) } } as never
  expect(findAnswer(chat, 'm2', findActor)?.id).toBe('m5')
  expect(findAnswer(chat, 'm1', findActor)).toBeUndefined()
})
