import axe from 'axe-core'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { userEvent } from 'vitest/browser'
import { render } from 'vitest-browser-react'
import type { ActorRow, FileMessageRow, MessageRevisionRow, ParticipantRow, TextMessageRow } from '@/api'
import { upsertRows } from '@/realtime'
import { buildChatContext } from '@/testing/chatContext'
import { closeChat, loadChat } from '@/testing/chatSocket'
import { answerRequests, listChanges, page, withQueries } from '@/testing/restServer'
import { messageRow } from '@/testing/rows'
import { openEdit, openEditOf } from '../edits'
import { ChatContext } from './ChatContext'
import { ChatListItem } from './ChatList'
import { FileMessage } from './FileMessage'
import { TextMessage } from './TextMessage'

const actor = (name: string, kind: 'human' | 'agent') =>
  ({ id: name.toLowerCase(), name, handle: `${name.toLowerCase()}-1`, kind, avatar: null }) as unknown as ActorRow
const actors = [actor('Alice', 'human'), actor('Bob', 'human'), actor('Robin', 'agent'), actor('Finch', 'agent')]
const participants = actors.map(
  one => ({ kind: 'participant', id: `p ${one.id}`, chat_id: 'c', version: 1, actor: one }) as ParticipantRow,
)
const findActor = (id: string | null | undefined) => actors.find(one => one.id === id) ?? null
const findName = (handle: string) => {
  const found = actors.find(one => one.handle === handle)
  return found ? { name: found.name, isMe: found.id === 'alice' } : null
}

const own = (more: Partial<TextMessageRow> = {}) =>
  messageRow(2, { payload: { text: '@robin-1 we are 12.', mentions: ['robin'] }, ...more }) as TextMessageRow
const editedAt = '2026-11-20T10:05:00Z'

const conflict = { error: { code: 'stale_revision', message: 'The message was edited meanwhile.', hints: [] } }
let refusal: typeof conflict | null
let revisions: MessageRevisionRow[]
let requests: ReturnType<typeof answerRequests>

beforeEach(async () => {
  refusal = null
  revisions = []
  requests = answerRequests(({ method, path }) =>
    path.endsWith('/revisions')
      ? [200, page(revisions)]
      : method === 'PATCH' && refusal
        ? [409, refusal]
        : [200, own({ edited_at: editedAt, version: 9 })],
  )
  await loadChat(participants)
})
afterEach(() => {
  openEdit.set(null)
  closeChat()
  vi.restoreAllMocks()
})

const show = (row: TextMessageRow, more: Parameters<typeof buildChatContext>[0] = {}) =>
  render(
    withQueries(
      <ChatContext value={buildChatContext({ findActor, findName, edit: openEditOf, remove: vi.fn(), ...more })}>
        <TextMessage row={row} continuesAuthor={false} />
      </ChatContext>,
    ),
  )

async function openForm(row = own()) {
  openEditOf(row)
  const screen = await show(row)
  const field = screen.getByRole('textbox', { name: 'Edit message' })
  await expect.element(field).toHaveFocus()
  return { screen, field }
}

it('edits a message in its place, with the names of those who are mentioned, and saves it by Enter', async () => {
  const { screen, field } = await openForm()
  await expect.element(field).toHaveValue('@Robin we are 12.')
  await field.fill('@Robin we are 14.')
  await userEvent.keyboard('{Shift>}{Enter}{/Shift}All of us.{Enter}')
  await expect.element(field).not.toBeInTheDocument()
  expect(listChanges(requests)).toEqual([
    ['PATCH /messages/m2', { text: '@robin-1 we are 14.\nAll of us.', edited_at: null, wake_ids: [] }],
  ])
  await expect.element(screen.getByRole('article')).toHaveFocus()
})

it('wakes the agents that the edit mentions in addition, unless they are taken out', async () => {
  const { screen, field } = await openForm()
  await field.fill('@Robin @Finch we are 14.')
  await expect.element(screen.getByText('Newly mentioned agents that will answer:')).toBeVisible()
  expect((await axe.run(screen.container, { rules: { region: { enabled: false } } })).violations).toEqual([])
  await screen.getByRole('button', { name: 'Save' }).click()
  await expect.element(field).not.toBeInTheDocument()
  expect(listChanges(requests)[0]?.[1]).toMatchObject({ wake_ids: ['finch'] })
  openEditOf(own())
  await field.fill('@Robin @Finch we are 15.')
  await screen.getByRole('button', { name: 'Don’t ask Finch' }).click()
  await screen.getByRole('button', { name: 'Save' }).click()
  await expect.element(field).not.toBeInTheDocument()
  expect(listChanges(requests)[1]?.[1]).toMatchObject({ wake_ids: [] })
})

it('says which agents have answered the message', async () => {
  const { screen } = await openForm()
  await expect.element(screen.getByText(/has answered/)).not.toBeInTheDocument()
  upsertRows('c', [messageRow(3, { author_id: 'robin', run_id: 'r', payload: { text: 'For 12.', answers: 'm2' } })])
  await expect.element(screen.getByText('Robin has answered. It can answer again.')).toBeVisible()
})

it('leaves the text as it was by Escape, and sends nothing when it has not changed', async () => {
  const { screen, field } = await openForm()
  await field.fill('something else')
  await userEvent.keyboard('{Escape}')
  await expect.element(screen.getByText('we are 12.')).toBeVisible()
  openEditOf(own())
  await expect.element(field).toHaveValue('@Robin we are 12.')
  await userEvent.keyboard('{Enter}')
  await expect.element(field).not.toBeInTheDocument()
  expect(listChanges(requests)).toEqual([])
})

it('keeps what is written while another message is edited', async () => {
  const { screen, field } = await openForm()
  await field.fill('we are 15.')
  openEditOf(own({ id: 'm3' }))
  await expect.element(field).not.toBeInTheDocument()
  openEditOf(own())
  await expect.element(screen.getByRole('textbox', { name: 'Edit message' })).toHaveValue('we are 15.')
})

it('keeps the text when it was edited elsewhere, says so, and replaces the other text only when saved again', async () => {
  const { screen, field } = await openForm()
  await field.fill('@Robin we are 14.')
  refusal = conflict
  upsertRows('c', [own({ edited_at: editedAt, version: 8 })])
  await userEvent.keyboard('{Enter}')
  await expect.element(screen.getByRole('alert')).toBeVisible()
  await expect.element(field).toHaveValue('@Robin we are 14.')
  refusal = null
  await userEvent.keyboard('{Enter}')
  await expect.element(field).not.toBeInTheDocument()
  expect(listChanges(requests).map(([, body]) => (body as { edited_at: string | null }).edited_at)).toEqual([
    null,
    editedAt,
  ])
})

const revision = (text: string, at: string): MessageRevisionRow => ({
  id: text,
  message_id: 'm2',
  text,
  written_at: at,
  replaced_at: at,
  replaced_by: 'alice',
})

it('opens the earlier texts of an edited message, and what each edit has changed', async () => {
  revisions = [revision('@robin-1 the group has 12 people.', editedAt), revision('Hello', '2026-11-20T10:01:00Z')]
  const row = own({
    edited_at: editedAt,
    payload: { text: '@robin-1 the group has 14 people.', mentions: [] } as never,
  })
  const screen = await show(row)
  const mark = screen.getByRole('button', { name: 'edited', exact: true })
  await expect.element(mark).toHaveAttribute('aria-expanded', 'false')
  await mark.click()
  await expect.element(screen.getByText('edited 2 times')).toBeVisible()
  const changes = screen.getByRole('list', { name: 'What the edit changed' })
  await expect
    .element(changes.first())
    .toHaveTextContent('−@Robin the group has 12 people.+@Robin the group has 14 people.')
  await expect.element(changes.last()).toHaveTextContent('−Hello+@Robin the group has 12 people.')
})

const deleted = (by: string) =>
  own({ deleted_at: editedAt, payload: { text: '', mentions: [], is_deleted: true, deleted_by: by } as never })

it('leaves a line of a deleted message, whose text only editors may read', async () => {
  revisions = [revision('The code is 4711.', editedAt)]
  const screen = await show(deleted('bob'))
  await expect.element(screen.getByText('Bob deleted a message by Alice')).toBeVisible()
  await expect.element(screen.getByRole('toolbar')).not.toBeInTheDocument()
  await screen.getByRole('button', { name: 'Show the text' }).click()
  await expect.element(screen.getByText('The code is 4711.')).toBeVisible()
  await screen.unmount()
  const ofMember = await show(deleted('alice'), { isEditor: false })
  await expect.element(ofMember.getByText('Alice deleted a message')).toBeVisible()
  await expect.element(ofMember.getByRole('button')).not.toBeInTheDocument()
})

it('calls a deleted message so in a quote and in the list of chats', async () => {
  const screen = await show(own({ id: 'm5', reply_to: 'm2' }), { findMessage: () => deleted('alice') })
  await expect.element(screen.getByTitle('Go to the message')).toHaveTextContent('deleted message')
  const listed = { chat: { id: 'c', title: 'Kyoto' }, participants: actors, unread: 0, last_message: deleted('alice') }
  const item = await render(<ChatListItem row={listed as never} me="alice" isCurrent={false} waits={false} />)
  expect(item.container.querySelector('[data-text]')?.getAttribute('data-text')).toBe('You: deleted message')
})

it('says who has deleted a file, which has no actions any more', async () => {
  const payload = { file_id: 'f', name: 'notes.md', kind: 'text', size: 5, is_deleted: true, deleted_by: 'bob' }
  const row = messageRow(2, { type: 'FILE_MESSAGE', payload }) as FileMessageRow
  const screen = await render(
    <ChatContext value={buildChatContext({ findActor, remove: vi.fn() })}>
      <FileMessage row={row} continuesAuthor={false} />
    </ChatContext>,
  )
  await expect.element(screen.getByText('notes.md was deleted by Bob')).toBeVisible()
  await expect.element(screen.getByRole('toolbar')).not.toBeInTheDocument()
})

it('offers to edit and delete the own message; an editor may delete any', async () => {
  const { container } = await show(own({ author_id: 'bob' }))
  const listNames = () =>
    [...container.querySelectorAll('[role=toolbar] button')].map(one => one.getAttribute('aria-label'))
  expect(listNames()).not.toContain('Edit')
  expect(listNames()).toContain('Delete')
  const mine = await show(own(), { isEditor: false })
  expect(
    [...mine.container.querySelectorAll('[role=toolbar] button')].map(one => one.getAttribute('aria-label')),
  ).toEqual(expect.arrayContaining(['Edit', 'Delete']))
  const other = await show(own({ author_id: 'bob' }), { isEditor: false })
  await expect.element(other.getByRole('button', { name: 'Delete' })).not.toBeInTheDocument()
})
