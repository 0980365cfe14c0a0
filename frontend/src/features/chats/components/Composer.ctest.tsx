import axe from 'axe-core'
import { createRef } from 'react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { userEvent } from 'vitest/browser'
import { render } from 'vitest-browser-react'
import { type ActorRow, keys, type NewMessage, type ParticipantRow, type TextMessageRow } from '@/api'
import { findActionHandler } from '@/lib/actions'
import { setStorageOwner } from '@/lib/storage'
import { upsertRows } from '@/realtime'
import { buildChatContext } from '@/testing/chatContext'
import { closeChat, loadChat } from '@/testing/chatSocket'
import { answerRequests, newQueryClient, page, withQueries } from '@/testing/restServer'
import { messageRow } from '@/testing/rows'
import { Toasts } from '@/ui/Toasts'
import { ChatContext } from './ChatContext'
import { Composer, type ComposerHandle } from './Composer'

const actor = (name: string, kind: 'human' | 'agent') =>
  ({ id: name.toLowerCase(), name, handle: name.toLowerCase(), kind, avatar: null }) as unknown as ActorRow
const alice = actor('Alice', 'human')
const inChat = [alice, actor('Bob', 'human'), actor('Scribe', 'agent'), actor('Robin', 'agent')]

const participants = inChat.map(
  actor => ({ kind: 'participant', id: `m ${actor.id}`, chat_id: 'c', version: 1, actor }) as ParticipantRow,
)

const question = messageRow(7, { author_id: 'bob', payload: { text: 'What does it cost?' } })
const edit = vi.fn()
const context = buildChatContext({
  edit,
  findActor: id => inChat.find(actor => actor.id === id) ?? null,
  findMessage: id => (id === question.id ? question : undefined),
})

async function openComposer(client = newQueryClient()) {
  const handle = createRef<ComposerHandle>()
  const onSent = vi.fn()
  const screen = await render(
    withQueries(
      <ChatContext value={context}>
        <div style={{ display: 'flex', flexDirection: 'column', justifyContent: 'flex-end', height: '500px' }}>
          <Composer ref={handle} title="Travel" onSent={onSent} />
        </div>
        <Toasts />
      </ChatContext>,
      client,
    ),
  )
  const field = screen.getByRole('textbox', { name: 'Message Travel' })
  await field.click()
  return { screen, field, handle, onSent }
}

let requests: ReturnType<typeof answerRequests>

beforeEach(async () => {
  setStorageOwner('alice')
  requests = answerRequests(({ path, body }) =>
    path === '/chats/c/messages'
      ? [201, { kind: 'message', id: (body as NewMessage).id, version: 1 }]
      : [404, { error: { code: 'not_found', message: '' } }],
  )
  await loadChat(participants, ['bob'])
})
afterEach(() => {
  closeChat()
  vi.restoreAllMocks()
  localStorage.clear()
  setStorageOwner(null)
})

/** Waits for the posted messages. */
const waitForSent = (messages: Partial<NewMessage>[]) =>
  vi.waitFor(() =>
    expect(requests.filter(({ path }) => path === '/chats/c/messages').map(({ body }) => body)).toMatchObject(messages),
  )

it('sends the message on Enter and clears the field; Shift+Enter adds a line', async () => {
  const { field, onSent } = await openComposer()
  await userEvent.keyboard('Hello{Shift>}{Enter}{/Shift}there  {Enter}')
  await waitForSent([{ text: 'Hello\nthere', wake: 'auto' }])
  expect(onSent).toHaveBeenCalledOnce()
  await expect.element(field).toHaveValue('')
  await userEvent.keyboard('{Enter}')
  await waitForSent([{ text: 'Hello\nthere' }])
})

it('wakes no agent with Ctrl+Shift+Enter', async () => {
  await openComposer()
  await userEvent.keyboard('Only a note{Control>}{Shift>}{Enter}{/Shift}{/Control}')
  await waitForSent([{ text: 'Only a note', wake: 'nobody' }])
})

it('asks again what a message does when an agent has ended its work in another chat', async () => {
  let effect = 'after_other_work'
  answerRequests(({ path }) =>
    path === '/chats/c/wakes'
      ? [200, page([{ agent_id: 'scribe', effect, reason: null, unreadable: [] }])]
      : [404, { error: { code: 'not_found', message: '' } }],
  )
  const client = newQueryClient()
  const agents = (state: string) => [{ actor: inChat[2], state }]
  client.setQueryData(keys.agents('w'), agents('working'))
  const { screen } = await openComposer(client)
  await userEvent.keyboard('@scribe look')
  await expect.element(screen.getByText('after other work that it has begun.')).toBeVisible()
  effect = 'wakes'
  client.setQueryData(keys.agents('w'), agents('idle'))
  await expect.element(screen.getByText('after other work that it has begun.')).not.toBeInTheDocument()
})

it('says at once that a public agent was taken down, also while nobody writes', async () => {
  let [effect, reason]: [string, string | null] = ['wakes', null]
  answerRequests(({ path }) =>
    path === '/chats/c/wakes'
      ? [200, page([{ agent_id: 'scribe', effect, reason, unreadable: [] }])]
      : [404, { error: { code: 'not_found', message: '' } }],
  )
  const { screen, field } = await openComposer()
  await expect.element(screen.getByText('Scribe', { exact: true })).toBeVisible()
  await expect.element(screen.getByRole('button', { name: /^Remove Scribe/ })).not.toBeInTheDocument()
  ;(field.element() as HTMLElement).blur()
  ;[effect, reason] = ['refused', 'taken_down']
  const scribe = participants.find(row => row.actor.id === 'scribe')
  if (scribe) upsertRows('c', [{ ...scribe, version: 2, actor: { ...scribe.actor, is_taken_down: true } }])
  await expect.element(screen.getByRole('button', { name: /^Remove Scribe/ })).toBeVisible()
})

it('does not ask at each step of an agent while it is empty, but when somebody begins to write', async () => {
  const bodies = answerRequests(({ path }) =>
    path === '/chats/c/wakes'
      ? [200, page([{ agent_id: 'scribe', effect: 'wakes', reason: null, unreadable: [] }])]
      : [404, { error: { code: 'not_found', message: '' } }],
  )
  const countPreviews = () => bodies.filter(({ path }) => path === '/chats/c/wakes').length
  const client = newQueryClient()
  await openComposer(client)
  await vi.waitFor(() => expect(countPreviews()).toBe(1))
  client.setQueryData(keys.agents('w'), [{ actor: inChat[2], state: 'working' }])
  await new Promise(resolve => setTimeout(resolve, 400))
  expect(countPreviews()).toBe(1)
  await userEvent.keyboard('x')
  await vi.waitFor(() => expect(countPreviews()).toBe(2))
})

it('says that a supervisor is woken with its team, and what that may cost', async () => {
  const wake = { effect: 'wakes', reason: null, unreadable: [] }
  answerRequests(({ path }) =>
    path === '/chats/c/wakes'
      ? [
          200,
          page([
            { ...wake, agent_id: 'scribe', team_size: 4, estimate_micro: 90_000 },
            { ...wake, agent_id: 'robin', team_size: 0, estimate_micro: null },
          ]),
        ]
      : [404, { error: { code: 'not_found', message: '' } }],
  )
  const { screen } = await openComposer()
  await userEvent.keyboard('@scribe @robin plan it')
  await expect
    .element(screen.getByRole('status').filter({ hasText: 'will answer' }))
    .toHaveTextContent('Scribeand its team of 4Robinwill answer')
  await expect.element(screen.getByText('about $0.090')).toBeVisible()
  await screen.getByRole('button', { name: "Don't ask" }).click()
  await expect.element(screen.getByText('about $0.090')).not.toBeInTheDocument()
})

it('opens the form of a plan by the palette', async () => {
  const { screen } = await openComposer()
  expect(findActionHandler('plan.open')?.()).toBeUndefined()
  await expect.element(screen.getByRole('dialog', { name: 'Plan tasks' })).toBeVisible()
})

it('keeps unsent text until the chat is opened again', async () => {
  const { screen } = await openComposer()
  await userEvent.keyboard('half a sentence')
  await screen.unmount()
  const { field } = await openComposer()
  await expect.element(field).toHaveValue('half a sentence')
})

it('completes a mention from the list of people and agents, by keyboard or pointer', async () => {
  const { screen, field } = await openComposer()
  await userEvent.keyboard('@')
  const list = screen.getByRole('listbox', { name: 'Mention' })
  await expect.element(list.getByRole('option').nth(0)).toHaveAttribute('aria-selected', 'true')
  await expect.element(field).toHaveAttribute('aria-activedescendant', 'mentions-0')
  await expect.element(list.getByText('Alice')).not.toBeInTheDocument()
  await userEvent.keyboard('sc{Enter}')
  await expect.element(list).not.toBeInTheDocument()
  await expect.element(field).toHaveValue('@Scribe ')
  await userEvent.keyboard('@')
  await list.getByRole('option', { name: /Bob/ }).click()
  await userEvent.keyboard('look{Enter}')
  await waitForSent([{ text: '@scribe @bob look' }])
})

it('closes the list on Escape, after which Enter sends', async () => {
  const { screen } = await openComposer()
  await userEvent.keyboard('@s')
  await expect.element(screen.getByRole('listbox')).toBeVisible()
  await userEvent.keyboard('{Escape}')
  await expect.element(screen.getByRole('listbox')).not.toBeInTheDocument()
  await userEvent.keyboard('{Enter}')
  await waitForSent([{ text: '@s' }])
})

it('asks a question again as a reply to its answer, which wakes the agent, and previews that', async () => {
  const answer = messageRow(8, { author_id: 'scribe', payload: { text: 'Much.' } })
  const wake = { agent_id: 'scribe', effect: 'wakes', reason: null, unreadable: [] }
  const bodies = answerRequests(({ path, body }) =>
    path === '/chats/c/wakes'
      ? [200, page((body as NewMessage).reply_to === answer.id ? [wake] : [])]
      : [201, { kind: 'message', id: (body as NewMessage).id, version: 1 }],
  )
  const asked = { question: question as TextMessageRow, answer }
  const { screen, handle } = await openComposer()
  await expect.element(screen.getByText('No agent will answer.')).toBeVisible()
  handle.current?.offer(asked)
  await expect.element(screen.getByText('will answer')).toBeVisible()
  await userEvent.keyboard('{Enter}')
  await vi.waitFor(() =>
    expect(bodies.filter(({ path }) => path === '/chats/c/messages').map(({ body }) => body)).toMatchObject([
      { text: 'What does it cost?', reply_to: answer.id },
    ]),
  )
})

it('replies to a message until Escape is pressed', async () => {
  const { screen, handle } = await openComposer()
  handle.current?.reply(question)
  await expect.element(screen.getByText('What does it cost?')).toBeVisible()
  await userEvent.keyboard('{Escape}')
  await expect.element(screen.getByText('What does it cost?')).not.toBeInTheDocument()
  handle.current?.reply(question)
  await userEvent.keyboard('Much.{Enter}')
  await waitForSent([{ text: 'Much.', reply_to: question.id }])
})

it('rejects a paste that is too long and shows a notice', async () => {
  const { screen, field } = await openComposer()
  const data = new DataTransfer()
  data.setData('text', 'x'.repeat(200_001))
  const paste = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })
  expect(field.element().dispatchEvent(paste)).toBe(false)
  await expect.element(screen.getByRole('region', { name: 'Messages (F8)' })).toHaveTextContent(/200,000/)
  await expect.element(field).toHaveValue('')
})

it('passes axe with its list open', async () => {
  const { screen } = await openComposer()
  await userEvent.keyboard('@')
  await expect.element(screen.getByRole('listbox')).toBeVisible()
  const { violations } = await axe.run(screen.container, { runOnly: ['wcag2a', 'wcag2aa', 'best-practice'] })
  expect(violations.map(violation => violation.id).filter(id => id !== 'region')).toEqual([])
})

it('opens the form of the last own message by ↑ while it is empty', async () => {
  const own = messageRow(3)
  upsertRows('c', [own, messageRow(4, { author_id: 'bob' })])
  edit.mockClear()
  const { field } = await openComposer()
  await userEvent.keyboard('Hello{ArrowUp}')
  expect(edit).not.toHaveBeenCalled()
  await field.fill('')
  await userEvent.keyboard('{Shift>}{ArrowUp}{/Shift}')
  expect(edit).not.toHaveBeenCalled()
  await userEvent.keyboard('{ArrowUp}')
  expect(edit).toHaveBeenCalledExactlyOnceWith(own)
})
