import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { userEvent } from 'vitest/browser'
import { render } from 'vitest-browser-react'
import type { ActorRow, MessageRow } from '@/api'
import { upsertRows } from '@/realtime'
import { buildChatContext, emptyPart, nothingUnread } from '@/testing/chatContext'
import { closeChat, loadChat } from '@/testing/chatSocket'
import { answerRequests, listChanges, newQueryClient, page, withQueries } from '@/testing/restServer'
import { messageRow, systemRow } from '@/testing/rows'
import { Toasts } from '@/ui/Toasts'
import { useChatActions } from '../chatActions'
import { useMessages } from '../hooks'
import { togglePin } from '../pins'
import { buildItems } from '../timeline'
import { ChatContext, type ChatContextValue } from './ChatContext'
import { PinnedMessages } from './PinnedMessages'
import { Timeline } from './Timeline'

const actors = ['Alice', 'Bob'].map(name => ({ id: name.toLowerCase(), name, kind: 'human' }) as unknown as ActorRow)
const findActor = (id: string | null | undefined) => actors.find(actor => actor.id === id) ?? null
const at = '2026-11-20T10:00:00Z'
const pin = { pinned_at: at, pinned_by: 'bob' }
const pinned = (seq: number) => ({ ...messageRow(seq, { payload: { text: `text ${seq}` } }), ...pin })

let rows: MessageRow[]
let refusal: string | null
let requests: ReturnType<typeof answerRequests>

beforeEach(async () => {
  rows = [pinned(2), pinned(1)]
  refusal = null
  requests = answerRequests(({ method, path }) => {
    if (path === '/me') return [200, { actor: actors[0] }]
    if (method === 'GET') return [200, page(rows)]
    if (refusal) return [429, { error: { code: refusal, message: '' } }]
    const row = rows.find(({ id }) => path === `/chats/c/messages/${id}/pin`) ?? messageRow(3)
    const change = method === 'PUT' ? { pinned_at: at, pinned_by: 'alice' } : { pinned_at: null, pinned_by: null }
    return [200, { ...row, version: 9, ...change }]
  })
  await loadChat([])
})
afterEach(() => {
  closeChat()
  vi.restoreAllMocks()
})

async function openList(goTo = vi.fn()) {
  const client = newQueryClient()
  const show = (count: number, version: number) =>
    withQueries(<PinnedMessages chatId="c" count={count} version={version} findActor={findActor} goTo={goTo} />, client)
  const screen = await render(show(2, 1))
  await screen.getByRole('button', { name: 'Pinned messages: 2' }).click()
  return { screen, goTo, show }
}

it('lists the pinned messages with their present texts and opens one in its place', async () => {
  const { screen, goTo } = await openList()
  const first = screen.getByRole('listitem').first()
  await expect.element(first).toHaveTextContent('Alice')
  await expect.element(first).toHaveTextContent('text 2')
  await expect.element(first).toHaveTextContent('Pinned by Bob')
  upsertRows('c', [{ ...pinned(1), version: 20, payload: { ...pinned(1).payload, text: 'edited 1' } } as MessageRow])
  await screen.getByText('edited 1').click()
  expect(goTo).toHaveBeenCalledWith('m1')
  await expect.element(screen.getByRole('dialog')).not.toBeInTheDocument()
})

it('unpins a message, and reads the list again when the chat has changed', async () => {
  const { screen, show } = await openList()
  await screen.getByRole('button', { name: 'Unpin' }).first().click()
  await vi.waitFor(() => expect(listChanges(requests)).toEqual([['DELETE /chats/c/messages/m2/pin', null]]))
  rows = [pinned(1)]
  await screen.rerender(show(1, 2))
  await expect.element(screen.getByText('text 2')).not.toBeInTheDocument()
  await expect.element(screen.getByText('text 1')).toBeVisible()
})

function Log({ goTo }: Pick<ChatContextValue, 'goTo'>) {
  const messages = useMessages('c')
  const context = buildChatContext({ findActor, goTo, togglePin: row => void togglePin('c', row) })
  useChatActions({ context, focusComposer: () => undefined })
  const items = buildItems({ messages, unsent: [], active: [], unreadAfter: null, me: 'alice' })
  const props = { items, messages, part: emptyPart, reading: nothingUnread, target: null, goTo, ref: null }
  return (
    <ChatContext value={context}>
      <div style={{ display: 'grid', height: '600px' }}>
        <Timeline {...props} />
      </div>
    </ChatContext>
  )
}

async function showLog(messages: readonly MessageRow[]) {
  const goTo = vi.fn()
  upsertRows('c', messages)
  const screen = await render(
    <>
      <Log goTo={goTo} />
      <Toasts />
    </>,
  )
  return { screen, goTo }
}

it('pins a message by its toolbar, and marks it', async () => {
  const { screen } = await showLog([messageRow(3, { payload: { text: 'text 3' } })])
  await userEvent.hover(screen.getByText('text 3'))
  await screen.getByRole('button', { name: 'More' }).click()
  await screen.getByRole('menuitem', { name: 'Pin' }).click()
  await expect.element(screen.getByRole('img', { name: 'Pinned by you' })).toBeInTheDocument()
  await expect.element(screen.getByRole('button', { name: 'Unpin', includeHidden: true })).toBeInTheDocument()
  expect(listChanges(requests)).toEqual([['PUT /chats/c/messages/m3/pin', null]])
})

it('says that a chat has as many pinned messages as it can have', async () => {
  refusal = 'too_many_pins'
  const { screen } = await showLog([messageRow(3, { payload: { text: 'text 3' } })])
  await userEvent.hover(screen.getByText('text 3'))
  await screen.getByRole('button', { name: 'More' }).click()
  await screen.getByRole('menuitem', { name: 'Pin' }).click()
  await expect.element(screen.getByText(/A chat has at most 50 pinned messages/).first()).toBeInTheDocument()
})

it('pins the answer of a reply that also has calls of tools', async () => {
  const call = { call_id: 'a', name: 'look', arguments: '{}', step: 1 }
  const { screen } = await showLog([
    messageRow(2, { run_id: 'r', type: 'TOOL_CALL', payload: call }),
    messageRow(3, { run_id: 'r', payload: { text: 'the answer' } }),
  ])
  await userEvent.hover(screen.getByText('the answer'))
  await screen.getByRole('button', { name: 'More' }).click()
  await screen.getByRole('menuitem', { name: 'Pin' }).click()
  await vi.waitFor(() => expect(listChanges(requests)).toEqual([['PUT /chats/c/messages/m3/pin', null]]))
})

it('opens the message from the line that says who has pinned it', async () => {
  const line = systemRow(
    'MESSAGE_PINNED',
    { actor_id: 'bob', actor_name: 'Bob', message_id: 'm1' },
    { id: 's', seq: 4 },
  )
  const { screen, goTo } = await showLog([line])
  await expect.element(screen.getByText(/pinned a message/)).toBeVisible()
  await screen.getByRole('button', { name: 'View' }).click()
  expect(goTo).toHaveBeenCalledWith('m1')
})
