import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { afterEach, expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import type { WorkspaceRow } from '@/api'
import { answerRequests } from '@/testing/restServer'
import { PublicAgentPage } from './PublicAgentPage'

const workspace = { id: 'w', name: 'Lighthouse', handle: 'lighthouse' } as WorkspaceRow
const row = {
  actor: { id: 'a1', name: 'Interpreter', handle: 'interpreter', description: 'Interprets.', avatar: null },
  category: 'language',
  languages: [],
  publisher_name: 'Lighthouse',
  version: 1,
  published_at: '2026-11-02T10:00:00Z',
  tool_count: 0,
  chat_count: 0,
  run_count: 0,
  workspace_count: 0,
  examples: [],
  model: '',
  max_steps: 10,
  tools: [],
  typical: null,
  versions: [],
  is_suspended: false,
  origin_id: null,
  origin_workspace_id: null,
}

const show = (verbs: string[], more: object = {}) => {
  const found = { ...row, verbs, ...more }
  answerRequests(({ path }) => [200, path.startsWith('/directory/') ? found : { results: [], next: null }])
  return render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <PublicAgentPage workspace={workspace} workspaceHandles={new Map()} handle="interpreter" onGo={vi.fn()} />
    </QueryClientProvider>,
  )
}

afterEach(() => vi.restoreAllMocks())

it('offers a takedown to those who may take it down, and a report to all others', async () => {
  const reader = await show(['chat', 'see'])
  await expect.element(reader.getByRole('button', { name: 'Report…' })).toBeVisible()
  await expect.element(reader.getByRole('button', { name: 'Take down…' })).not.toBeInTheDocument()
  await reader.unmount()
  const publisher = await show(['chat', 'see', 'take_down_agent'])
  await expect.element(publisher.getByRole('button', { name: 'Take down…' })).toBeVisible()
  await expect.element(publisher.getByRole('button', { name: 'Report…' })).not.toBeInTheDocument()
})

it('leads from an agent that was taken down to the one that was published anew', async () => {
  const data = { name: 'Interpreter', reason: '', by_operator: true, taken_down_at: '2026-11-02T10:00:00Z' }
  const anew = { new_handle: 'interpreter-2', new_name: 'Interpreter' }
  const error = { code: 'taken_down', message: 'It was taken down.', hints: [], data: { ...data, ...anew } }
  answerRequests(() => [404, { error }])
  const onGo = vi.fn()
  const screen = await render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <PublicAgentPage workspace={workspace} workspaceHandles={new Map()} handle="a1" onGo={onGo} />
    </QueryClientProvider>,
  )
  await screen.getByRole('button', { name: 'Open the new Interpreter' }).click()
  expect(onGo).toHaveBeenCalledWith('/w/lighthouse/directory/interpreter-2')
})

it('describes a tool of the installation by a text for people, and any other by its first sentence', async () => {
  const tools = [
    { name: 'remember', description: 'Ask the person you work for. Then…', effect: 'write' },
    { name: 'get_order', description: 'Find an order. It has a number.', effect: 'read' },
  ]
  const screen = await show(['see'], { tools })
  await expect.element(screen.getByText('stores a note for later')).toBeInTheDocument()
  await expect.element(screen.getByText('Find an order.', { exact: true })).toBeInTheDocument()
  await expect.element(screen.getByText(/Ask the person/)).not.toBeInTheDocument()
})

it('describes an agent of this release in the language of the reader', async () => {
  const actor = { ...row.actor, handle: 'browser', description: 'As stored.' }
  const screen = await show(['see'], { actor, is_shipped: true })
  await expect.element(screen.getByText('Finds and reads web pages, answers in short')).toBeInTheDocument()
  await expect.element(screen.getByText('As stored.')).not.toBeInTheDocument()
})
