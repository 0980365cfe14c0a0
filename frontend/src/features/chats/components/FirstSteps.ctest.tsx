import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import type { ActorRow, MessageRow, NewMessage, ParticipantRow, WorkspaceRow } from '@/api'
import { setStorageOwner } from '@/lib/storage'
import { buildChatContext } from '@/testing/chatContext'
import { closeChat, loadChat } from '@/testing/chatSocket'
import { answerRequests, page, withQueries } from '@/testing/restServer'
import { messageRow } from '@/testing/rows'
import { ChatContext } from './ChatContext'
import { FirstSteps } from './FirstSteps'

const actor = (id: string, kind: 'human' | 'agent') =>
  ({ id, name: id, handle: id, kind, avatar: null }) as unknown as ActorRow
const everybody = [actor('alice', 'human'), actor('bob', 'human'), actor('scribe', 'agent')]
const participantsOf = (actors: readonly ActorRow[]) =>
  actors.map(actor => ({ kind: 'participant', id: `m ${actor.id}`, chat_id: 'c', version: 1, actor }) as ParticipantRow)

const improvement = { label: 'Make it one sentence', line: '- Answer in one sentence.' }
const greeting = messageRow(1, {
  author_id: 'scribe',
  payload: { text: 'Hello', greeting: true, questions: ['One?', 'Two?'], improvement },
})
const question = messageRow(2, { author_id: 'alice', payload: { text: 'One?' } })
const answerBy = (provider: string, stamp: object = { version: 1 }) =>
  messageRow(3, { author_id: 'scribe', payload: { text: 'It is one.', stamp: { provider, ...stamp } as never } })

let requests: ReturnType<typeof answerRequests>
let provider: string

beforeEach(() => {
  setStorageOwner('alice')
  provider = 'demo'
  requests = answerRequests(({ method, path, body }) => {
    if (path === '/workspaces/w/model') return [200, { provider, default_model: provider }]
    if (path.startsWith('/workspaces/w/members')) return [200, page([{ actor: everybody[1], role: 'editor' }])]
    if (method === 'POST' && path === '/chats/c/messages')
      return [201, { kind: 'message', id: (body as NewMessage).id, version: 2 }]
    return [404, { error: { code: 'not_found', message: '' } }]
  })
})
afterEach(() => {
  closeChat()
  vi.restoreAllMocks()
  localStorage.clear()
  setStorageOwner(null)
})

async function open(
  messages: readonly MessageRow[],
  { people = ['alice'], verbs = ['invite'], modelPath = '/model' as string | null } = {},
) {
  const inChat = everybody.filter(({ id, kind }) => kind === 'agent' || people.includes(id))
  await loadChat(participantsOf(inChat))
  const calls = { onImprove: vi.fn(), onSent: vi.fn(), focusComposer: vi.fn() }
  const context = buildChatContext({
    modelPath,
    findActor: id => everybody.find(actor => actor.id === id) ?? null,
  })
  const workspace = { id: 'w', verbs } as unknown as WorkspaceRow
  const screen = await render(
    withQueries(
      <ChatContext value={context}>
        <FirstSteps messages={messages} workspace={workspace} {...calls} />
      </ChatContext>,
    ),
  )
  return { screen, ...calls }
}

/** Waits for the posted messages. */
const waitForSent = (messages: Partial<NewMessage>[]) =>
  vi.waitFor(() =>
    expect(requests.filter(({ method }) => method === 'POST').map(({ body }) => body)).toMatchObject(messages),
  )

it('asks an example question by one click, and says how to connect a real model', async () => {
  const { screen, onSent } = await open([greeting])
  await expect.element(screen.getByText('The demo model answers here')).toBeVisible()
  await expect.element(screen.getByRole('link', { name: 'Connect a real model' })).toHaveAttribute('href', '/model')
  await screen.getByRole('button', { name: 'Two?' }).click()
  await waitForSent([{ text: 'Two?', wake: 'auto' }])
  expect(onSent).toHaveBeenCalledOnce()
  expect(requests.find(({ method }) => method === 'POST')?.body).not.toHaveProperty('reply_to')
})

it('offers the improvement, another question and an invitation after an answer', async () => {
  const { screen, onImprove } = await open([greeting, question, answerBy('demo')], { people: ['alice', 'bob'] })
  await screen.getByRole('button', { name: 'Make it one sentence' }).click()
  expect(onImprove).toHaveBeenCalledExactlyOnceWith('scribe', '- Answer in one sentence.')
  await screen.getByRole('button', { name: 'Try another question' }).click()
  // Among several people, the agent answers what replies to it.
  await waitForSent([{ text: 'Two?', reply_to: 'm3' }])
  await screen.getByRole('button', { name: 'Invite a colleague' }).click()
  await expect.element(screen.getByRole('dialog', { name: 'Invite a colleague' })).toBeVisible()
})

it('leads to the composer when all questions were asked', async () => {
  const second = messageRow(4, { author_id: 'alice', payload: { text: 'Two?' } })
  const messages = [greeting, question, second, { ...answerBy('demo', { version: 2 }), id: 'm5', seq: 5 }]
  const { screen, focusComposer } = await open(messages)
  await expect.element(screen.getByRole('button', { name: 'Make it one sentence' })).not.toBeInTheDocument()
  await screen.getByRole('button', { name: 'Try another question' }).click()
  expect(focusComposer).toHaveBeenCalledOnce()
  expect(requests.some(({ method }) => method === 'POST')).toBe(false)
})

it('names who can connect a model, and offers no invitation to whoever may not invite', async () => {
  const { screen } = await open([greeting, question, answerBy('demo')], { verbs: [], modelPath: null })
  await expect.element(screen.getByText('Ask bob to connect a real model.')).toBeVisible()
  await expect.element(screen.getByRole('button', { name: 'Invite a colleague' })).not.toBeInTheDocument()
})

it('says nothing of the demo model when another one answers', async () => {
  provider = 'openai'
  const { screen } = await open([greeting])
  await expect.element(screen.getByRole('button', { name: 'One?' })).toBeVisible()
  await vi.waitFor(() => expect(requests.some(({ path }) => path === '/workspaces/w/model')).toBe(true))
  await expect.element(screen.getByText('The demo model answers here')).not.toBeInTheDocument()
})
