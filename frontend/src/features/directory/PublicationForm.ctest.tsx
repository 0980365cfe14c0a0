import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import axe from 'axe-core'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import { type AgentRow, defaultSpec, type PublicationRow, type WorkspaceRow } from '@/api'
import { readStored, setStorageOwner } from '@/lib/storage'
import { answerRequests, listChanges, page } from '@/testing/restServer'
import { PublishPage } from './PublishPage'

const agent = {
  actor: { id: 'robin', name: 'Robin', handle: 'robin', description: 'Answers.', avatar: null },
  spec: { id: 's', number: 4, message: '', content: defaultSpec },
  verbs: ['publish_agent'],
} as unknown as AgentRow
const workspace = { id: 'w', name: 'Lighthouse', handle: 'lighthouse' } as WorkspaceRow

/** Returns the publication of an agent that is not public. Another public agent is called Robin. */
const buildPublication = (name: string, handle: string): PublicationRow => ({
  check: {
    version: 4,
    prompt_lines: 41,
    model: '',
    model_may_be_missing: false,
    max_steps: 12,
    max_seconds: 1800,
    tools: [{ name: 'web_fetch', description: 'Reads a page.', effect: 'read' }],
    memory: 'chat',
    secrets: [{ place: 'prompt', name: '', lines: [3, 7] }],
    unpublished_tools: [
      { name: 'draft_campaign', reason: 'workspace', lines: [18] },
      { name: 'scribe', reason: 'sub_agent', lines: [] },
    ],
    name: { value: name, is_free: name !== 'Robin', suggestions: name === 'Robin' ? ['Lighthouse Robin'] : [] },
    handle: { value: handle, is_free: true, suggestions: [] },
  } as PublicationRow['check'],
  listing: null,
  origin_version: null,
  takedowns: [],
})

const onGo = vi.fn()
const onEdit = vi.fn()

const neighbour = {
  actor: { id: 'letters', name: 'Letters', handle: 'letters', description: 'Writes letters.', avatar: null },
  publisher_name: 'Harbor Coop',
  is_yours: false,
  tool_count: 0,
  workspace_count: 72,
  run_count: 4000,
}

const CHECK = '/publication/listing-check'
const listSecrets = (body: unknown) =>
  JSON.stringify(body).includes('sk-') ? [{ place: 'description', name: '', lines: [] }] : []

const startServer = () =>
  answerRequests(({ method, path, body }) => {
    const { pathname, searchParams } = new URL(path, 'http://server')
    if (pathname === '/workspaces/w/chats') return [201, { chat: { id: 'new' } }]
    if (pathname === '/directory') return [200, page(searchParams.get('category') === 'writing' ? [neighbour] : [])]
    if (pathname.endsWith(CHECK)) return [200, page(listSecrets(body))]
    if (method === 'POST') return [201, { actor: { name: 'Lighthouse Robin', handle: 'robin' }, version: 1 }]
    if (pathname.endsWith('/versions')) return [200, { results: [agent.spec], next: null }]
    return [200, buildPublication(searchParams.get('name') ?? 'Robin', searchParams.get('handle') ?? 'robin')]
  })

const show = () =>
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <PublishPage agent={agent} workspace={workspace} onEdit={onEdit} onBack={vi.fn()} onGo={onGo} />
    </QueryClientProvider>,
  )

beforeEach(() => {
  setStorageOwner('alice')
  localStorage.clear()
  onGo.mockReset()
  onEdit.mockReset()
})
afterEach(() => vi.restoreAllMocks())

it('shows what is published and what is not, with the lines that name a tool that is not', async () => {
  startServer()
  const screen = await show()
  await expect.element(screen.getByText('v4, 41 lines')).toBeVisible()
  await expect.element(screen.getByText('draft_campaign', { exact: true })).toBeVisible()
  await expect.element(screen.getByText(/^Line 18 of the prompt names draft_campaign/)).toBeVisible()
  await expect.element(screen.getByText('Its sub-agents @scribe')).toBeVisible()
  expect((await axe.run(document.body, { rules: { region: { enabled: false } } })).violations).toEqual([])
})

it('says who can read the prompt, and warns of keys and passwords, also in a text that is being entered', async () => {
  startServer()
  const screen = await show()
  await expect.element(screen.getByText(/^Whoever runs it can read its prompt/)).toBeVisible()
  await expect.element(screen.getByText(/^Lines 3 and 7 of the prompt have what looks like a key/)).toBeVisible()
  await screen.getByRole('textbox', { name: 'What it does' }).fill('Use sk-abcdefgh12345678.')
  await expect.element(screen.getByText(/^The description has what looks like a key/)).toBeVisible()
})

it('blocks a name that is taken, offers a free one, and publishes once', async () => {
  const requests = startServer()
  const screen = await show()
  const publish = screen.getByRole('button', { name: 'Publish', exact: true })
  await expect.element(publish).toHaveAttribute('aria-description', 'Choose a free name to publish.')
  await screen.getByRole('button', { name: 'Lighthouse Robin' }).click()
  await expect.element(publish).not.toHaveAttribute('aria-disabled')
  await publish.dblClick()
  await vi.waitFor(() => expect(onGo).toHaveBeenCalledWith('/w/lighthouse/directory/robin'))
  expect(requests.filter(sent => sent.method === 'POST' && !sent.path.endsWith(CHECK))).toEqual([
    {
      method: 'POST',
      path: '/agents/robin/publish',
      body: {
        name: 'Lighthouse Robin',
        handle: 'robin',
        description: 'Answers.',
        category: 'other',
        languages: ['en'],
        examples: [],
        message: '',
      },
    },
  ])
})

it('keeps what was entered when the page is opened again', async () => {
  startServer()
  const first = await show()
  await first.getByLabelText('What it does').fill('Interprets.')
  await first.getByRole('button', { name: 'Japanese' }).click()
  await first.unmount()
  const screen = await show()
  await expect.element(screen.getByLabelText('What it does')).toHaveValue('Interprets.')
  await expect.element(screen.getByRole('button', { name: 'Japanese' })).toHaveAttribute('aria-pressed', 'true')
})

it('asks the agent an example in a new chat, and keeps what was entered', async () => {
  const requests = startServer()
  const screen = await show()
  await screen.getByRole('button', { name: 'Add an example' }).click()
  const tryIt = screen.getByRole('button', { name: 'Try it: example 1' })
  await expect.element(tryIt).toHaveAttribute('aria-disabled', 'true')
  await screen.getByLabelText('Example 1', { exact: true }).fill('Translate: good morning')
  await tryIt.dblClick()
  await vi.waitFor(() => expect(onGo).toHaveBeenCalledWith('/w/lighthouse/c/new'))
  expect(listChanges(requests.filter(sent => !sent.path.endsWith(CHECK)))).toEqual([
    ['POST /workspaces/w/chats', { title: 'Robin', actor_ids: ['robin'] }],
  ])
  expect(readStored<{ text: string }>('atelier.text.new', { text: '' }).text).toBe('Translate: good morning')
  await screen.unmount()
  await expect
    .element((await show()).getByLabelText('Example 1', { exact: true }))
    .toHaveValue('Translate: good morning')
})

it('opens the workshop from the line that names a tool which stays', async () => {
  startServer()
  const screen = await show()
  await screen.getByRole('button', { name: 'Edit the prompt…' }).click()
  expect(onEdit).toHaveBeenCalledOnce()
})

it('shows the agents of the chosen category beside the card', async () => {
  startServer()
  const screen = await show()
  const preview = screen.getByRole('complementary', { name: 'Preview' })
  await expect.element(preview.getByText('Name is free')).toBeVisible()
  await expect.element(preview.getByText('Letters')).not.toBeInTheDocument()
  await screen.getByLabelText('Category').selectOptions('writing')
  await expect.element(preview.getByText('Beside it in Writing')).toBeVisible()
  await expect.element(preview.getByText('Harbor Coop')).toBeVisible()
})

it.each([
  ['Name', 'It has a name', 'Name is free', 'Give it a name.'],
  ['Handle', 'It has a handle', 'Handle is free', 'Give it a handle.'],
])('says that the %s is missing, and not that an empty one is free', async (field, missing, free, problem) => {
  startServer()
  const screen = await show()
  await screen.getByLabelText('Name', { exact: true }).fill('Other Robin')
  const preview = screen.getByRole('complementary', { name: 'Preview' })
  await expect.element(screen.getByText('free', { exact: true }).nth(1)).toBeVisible()
  await screen.getByLabelText(field, { exact: true }).fill(' ')
  await expect.element(screen.getByText(problem)).toBeVisible()
  await expect.element(preview.getByRole('listitem').filter({ hasText: missing })).toHaveTextContent('missing')
  await expect.element(preview.getByText(free)).not.toBeInTheDocument()
  await expect.element(screen.getByText('free', { exact: true }).nth(1)).not.toBeInTheDocument()
})
