import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { userEvent } from 'vitest/browser'
import { render } from 'vitest-browser-react'
import type { ActorRow, LinkRow, ParticipantRow, WorkspaceRow } from '@/api'
import { upsertRows } from '@/realtime'
import { closeChat, loadChat } from '@/testing/chatSocket'
import { answerByPath, listChanges, page, withQueries } from '@/testing/restServer'
import { messageRow } from '@/testing/rows'
import { Toasts } from '@/ui/Toasts'
import { PeopleDialog } from './PeopleDialog'

const actor = (name: string, kind: 'human' | 'agent' = 'human') =>
  ({ id: name.toLowerCase(), name, handle: name.toLowerCase(), kind, avatar: null }) as unknown as ActorRow
const [alice, bob, carol, scribe] = [actor('Alice'), actor('Bob'), actor('Carol'), actor('Scribe', 'agent')]
const publicAgents = ['Owl', 'Wren', 'Birder'].map(name => ({
  actor: actor(name, 'agent'),
  publisher_name: name === 'Owl' ? null : 'Harbor',
}))
const participant = (actor: ActorRow) =>
  ({
    kind: 'participant',
    id: `m ${actor.id}`,
    chat_id: 'c',
    version: 1,
    actor,
    response: 'mentions',
  }) as ParticipantRow

const workspace = { id: 'w', verbs: ['invite'] } as unknown as WorkspaceRow

async function openDialog() {
  const onOpenChange = vi.fn()
  const onMessage = vi.fn()
  const screen = await render(
    withQueries(
      <>
        <PeopleDialog
          chatId="c"
          workspace={workspace}
          title="Travel"
          isDirect={false}
          open
          onOpenChange={onOpenChange}
          onMessage={onMessage}
        />
        <Toasts />
      </>,
    ),
  )
  return { screen, onOpenChange, onMessage }
}

let links: LinkRow[]
let requests: ReturnType<typeof answerByPath>
const listWakes = () => listChanges(requests).filter(([request]) => `${request}`.endsWith('/agents/scribe/wake'))
const waitForChanges = (changes: unknown[]) => vi.waitFor(() => expect(listChanges(requests)).toEqual(changes))

beforeEach(async () => {
  links = []
  requests = answerByPath({
    'GET /me': { actor: alice },
    'GET /workspaces/w/members': page([alice, bob, carol].map(actor => ({ actor }))),
    'GET /workspaces/w/agents': page([{ actor: scribe }]),
    'GET /chats/c/links': page(links),
    'POST /chats/c/participants': {},
    'GET /directory?limit=8': page(publicAgents),
    'GET /directory?limit=8&used_in=w': page([publicAgents[1]]),
    'GET /directory?limit=8&query=bird': page([publicAgents[2]]),
    'GET /directory?limit=8&query=bird&used_in=w': page([]),
    'DELETE /chats/c/participants/bob': {},
    'PATCH /chats/c': {},
  })
  await loadChat([scribe, alice, bob].map(participant), ['bob'])
})
afterEach(() => {
  closeChat()
  vi.restoreAllMocks()
})

it('lists people before agents and offers to add only those who are not in the chat', async () => {
  const { screen } = await openDialog()
  const names = screen.getByRole('listitem').elements()
  expect(names.map(element => /@(alice|bob|carol|scribe)/.exec(element.textContent ?? '')?.[0])).toEqual([
    '@alice',
    '@bob',
    '@scribe',
  ])
  await screen.getByRole('button', { name: 'Carol' }).click()
  await waitForChanges([['POST /chats/c/participants', { actor_id: 'carol' }]])
})

it('removes a person at once and adds them again with Undo', async () => {
  const { screen, onOpenChange } = await openDialog()
  await screen.getByRole('button', { name: /Remove Bob/ }).click()
  await screen.getByRole('button', { name: 'Undo' }).click()
  await waitForChanges([
    ['DELETE /chats/c/participants/bob', null],
    ['POST /chats/c/participants', { actor_id: 'bob' }],
  ])
  expect(onOpenChange).not.toHaveBeenCalled()
})

it('shows the invite links that will end before it removes their creator', async () => {
  const expires_at = new Date(Date.now() + 86_400_000).toISOString()
  links.push({
    id: 'l',
    created_by: 'bob',
    role: 'suggester',
    expires_at,
    revoked_at: null,
    max_uses: null,
    uses: 0,
  } as unknown as LinkRow)
  const { screen } = await openDialog()
  await screen.getByRole('button', { name: /Remove Bob/ }).click()
  expect(listChanges(requests)).toEqual([])
  const confirmation = screen.getByRole('dialog', { name: /Remove Bob/ })
  await confirmation.getByRole('button', { name: /Remove Bob/ }).click()
  await waitForChanges([['DELETE /chats/c/participants/bob', null]])
})

it('changes when an agent wakes and shows an error when that fails', async () => {
  const { screen } = await openDialog()
  await screen.getByRole('combobox', { name: /Scribe/ }).selectOptions('always')
  await waitForChanges([['PATCH /chats/c/participants/scribe', { response: 'always' }]])
  await expect.element(screen.getByText(/don't have access/).first()).toBeInTheDocument()
})

it('offers to rename the chat only after the name was changed', async () => {
  const { screen } = await openDialog()
  const field = screen.getByLabelText('Chat name')
  await expect.element(screen.getByRole('button', { name: 'Rename' })).not.toBeInTheDocument()
  await field.fill('Journeys')
  await screen.getByRole('button', { name: 'Rename' }).click()
  await waitForChanges([['PATCH /chats/c', { title: 'Journeys' }]])
})

it('opens the direct chat with a participant, but for oneself', async () => {
  const { screen, onOpenChange, onMessage } = await openDialog()
  await expect.element(screen.getByRole('button', { name: 'Message Alice' })).not.toBeInTheDocument()
  await screen.getByRole('button', { name: 'Message Bob' }).click()
  expect(onMessage).toHaveBeenCalledExactlyOnceWith('bob')
  expect(onOpenChange).toHaveBeenCalledExactlyOnceWith(false)
})

it('says how far an agent has read', async () => {
  upsertRows('c', [{ ...participant(scribe), last_read_seq: 1, version: 8 }, messageRow(1), messageRow(2)])
  const { screen } = await openDialog()
  const item = screen.getByRole('listitem').filter({ hasText: '@scribe' })
  await expect.element(item).toHaveTextContent('read up to')
  upsertRows('c', [{ ...participant(scribe), last_read_seq: 2, version: 9 }])
  await expect.element(item).toHaveTextContent('has read everything')
})

it('wakes an agent once by a double click', async () => {
  const { screen } = await openDialog()
  await screen.getByRole('button', { name: 'Ask Scribe to look again' }).dblClick()
  await vi.waitFor(() => expect(listWakes()).toHaveLength(1))
  await screen.getByRole('button', { name: 'Ask Scribe to look again' }).click()
  await vi.waitFor(() => expect(listWakes()).toHaveLength(2))
})

it('adds a public agent: those in use here come first, and others are found by a search', async () => {
  const { screen } = await openDialog()
  const group = screen.getByRole('group', { name: 'Add public agents to this chat' })
  await expect.element(group.getByRole('button', { name: 'Owl' })).toBeVisible()
  const names = () =>
    group
      .getByRole('button')
      .elements()
      .map(button => button.textContent)
  expect(names()).toEqual(['WrenHarbor', 'Owlready-made', 'BirderHarbor'])
  const search = group.getByRole('searchbox', { name: 'Find public agents' })
  await search.fill('bird')
  await expect.element(group.getByRole('button', { name: 'Owl' })).not.toBeInTheDocument()
  await expect.element(group.getByRole('button', { name: 'Birder' })).toBeVisible()
  await search.click()
  await userEvent.keyboard('{Enter}')
  await waitForChanges([['POST /chats/c/participants', { actor_id: 'birder' }]])
})
