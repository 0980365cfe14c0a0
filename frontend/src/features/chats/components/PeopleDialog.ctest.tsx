import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { beforeEach, expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import { type ActorRow, ApiError, type LinkRow, type ParticipantRow, type WorkspaceRow } from '@/api'
import { Toasts } from '@/ui/Toasts'
import { PeopleDialog } from './PeopleDialog'

const actor = (name: string, kind: 'human' | 'agent' = 'human') =>
  ({ id: name.toLowerCase(), name, handle: name.toLowerCase(), kind, avatar: null }) as unknown as ActorRow
const [alice, bob, carol, scribe] = [actor('Alice'), actor('Bob'), actor('Carol'), actor('Scribe', 'agent')]
const participant = (actor: ActorRow) =>
  ({ id: `m ${actor.id}`, chat_id: 'c', actor, response: 'mentions' }) as ParticipantRow

const api = vi.hoisted(() => ({
  addToChat: vi.fn(),
  removeFromChat: vi.fn(),
  renameChat: vi.fn(),
  setResponse: vi.fn(),
  links: [] as LinkRow[],
}))
vi.mock('@/api', async original => ({
  ...(await original<object>()),
  ...api,
  useMe: () => ({ data: { actor: alice } }),
  useMembers: () => ({ data: [alice, bob, carol].map(actor => ({ actor })) }),
  useAgents: () => ({ data: [{ actor: scribe }] }),
  useLinks: () => ({ data: api.links }),
}))
vi.mock('../hooks', async original => ({
  ...(await original<object>()),
  useParticipants: () => [scribe, alice, bob].map(participant),
  usePeopleWithChatOpen: () => ['bob'],
}))

const workspace = { id: 'w', verbs: ['invite'] } as unknown as WorkspaceRow

async function openDialog() {
  const onOpenChange = vi.fn()
  const screen = await render(
    <QueryClientProvider client={new QueryClient()}>
      <PeopleDialog chatId="c" workspace={workspace} title="Travel" open onOpenChange={onOpenChange} />
      <Toasts />
    </QueryClientProvider>,
  )
  return { screen, onOpenChange }
}

beforeEach(() => {
  for (const mock of [api.addToChat, api.removeFromChat, api.renameChat, api.setResponse])
    mock.mockReset().mockResolvedValue(undefined)
  api.links.length = 0
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
  expect(api.addToChat.mock.calls).toEqual([['c', 'carol']])
})

it('removes a person at once and adds them again with Undo', async () => {
  const { screen, onOpenChange } = await openDialog()
  await screen.getByRole('button', { name: /Remove Bob/ }).click()
  expect(api.removeFromChat.mock.calls).toEqual([['c', 'bob']])
  await screen.getByRole('button', { name: 'Undo' }).click()
  expect(api.addToChat.mock.calls).toEqual([['c', 'bob']])
  expect(onOpenChange).not.toHaveBeenCalled()
})

it('shows the invite links that will end before it removes their creator', async () => {
  const expires_at = new Date(Date.now() + 86_400_000).toISOString()
  api.links.push({
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
  expect(api.removeFromChat).not.toHaveBeenCalled()
  const confirmation = screen.getByRole('dialog', { name: /Remove Bob/ })
  await confirmation.getByRole('button', { name: /Remove Bob/ }).click()
  expect(api.removeFromChat.mock.calls).toEqual([['c', 'bob']])
})

it('changes when an agent wakes and shows an error when that fails', async () => {
  api.setResponse.mockRejectedValueOnce(new ApiError(0, 'unreachable', ''))
  const { screen } = await openDialog()
  await screen.getByRole('combobox', { name: /Scribe/ }).selectOptions('always')
  expect(api.setResponse.mock.calls).toEqual([['c', 'scribe', 'always']])
  await expect.element(screen.getByText(/No connection/).first()).toBeInTheDocument()
})

it('offers to rename the chat only after the name was changed', async () => {
  const { screen } = await openDialog()
  const field = screen.getByLabelText('Chat name')
  await expect.element(screen.getByRole('button', { name: 'Rename' })).not.toBeInTheDocument()
  await field.fill('Journeys')
  await screen.getByRole('button', { name: 'Rename' }).click()
  expect(api.renameChat.mock.calls).toEqual([['c', 'Journeys']])
})
