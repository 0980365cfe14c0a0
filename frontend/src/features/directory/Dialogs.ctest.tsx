import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import axe from 'axe-core'
import type { ReactNode } from 'react'
import { afterEach, expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import type { ActorRow, DirectoryDetailRow, WorkspaceRow } from '@/api'
import { answerByPath, answerRequests, page } from '@/testing/restServer'
import { AddToChatDialog } from './AddToChatDialog'
import { ReportDialog } from './ReportDialog'
import { TakedownDialog } from './TakedownDialog'

const actor: ActorRow = {
  id: 'a1',
  kind: 'agent',
  name: 'Interpreter',
  handle: 'interpreter',
  description: null,
  workspace_id: null,
  is_public: true,
  is_taken_down: false,
  avatar: null,
}
const agent = { actor, version: 3, published_at: '2026-11-02T10:00:00Z' } as DirectoryDetailRow
const isAxe = { rules: { region: { enabled: false } } }

const show = (dialog: ReactNode) =>
  render(<QueryClientProvider client={new QueryClient()}>{dialog}</QueryClientProvider>)

afterEach(() => vi.restoreAllMocks())

it('sends one report, after a reason was chosen, and thanks', async () => {
  const requests = answerRequests(() => [201, { id: 'r' }])
  const screen = await show(<ReportDialog actor={actor} onClose={vi.fn()} />)
  const send = screen.getByRole('button', { name: 'Send report' })
  await expect.element(send).toHaveAttribute('aria-description', 'Choose a reason first.')
  await screen.getByLabelText('Harmful or unlawful').click()
  await screen.getByLabelText('What happened?').fill('It insulted us.')
  await send.dblClick()
  await expect.element(screen.getByText('An operator will read your report.')).toBeVisible()
  expect(requests).toEqual([
    { method: 'POST', path: '/directory/a1/reports', body: { reason: 'harmful', text: 'It insulted us.' } },
  ])
  expect((await axe.run(document.body, isAxe)).violations).toEqual([])
})

it('keeps the text of a report that the server refuses', async () => {
  answerRequests(() => [409, { error: { code: 'already_reported', message: '', hints: [] } }])
  const screen = await show(<ReportDialog actor={actor} onClose={vi.fn()} />)
  await screen.getByLabelText('Something else', { exact: true }).click()
  await screen.getByLabelText('What happened?').fill('Again')
  await screen.getByRole('button', { name: 'Send report' }).click()
  await expect.element(screen.getByRole('alert')).toBeVisible()
  await expect.element(screen.getByLabelText('What happened?')).toHaveValue('Again')
})

it('shows whom a takedown affects, and takes the agent down once its name is typed', async () => {
  const affected = { workspaces: 38, chats: 71, agents: null, runs: 0 }
  const requests = answerRequests(() => [200, affected])
  const onClose = vi.fn()
  const screen = await show(<TakedownDialog agent={agent} onClose={onClose} />)
  for (const text of ['38', '71', '1–4', 'agents use it'])
    await expect.element(screen.getByText(text, { exact: true })).toBeVisible()
  const confirm = screen.getByRole('button', { name: 'Take down Interpreter' })
  await screen.getByLabelText('A word to its users').fill('It was wrong.')
  await screen.getByLabelText('Type Interpreter to confirm').fill('interpreter')
  await confirm.click({ force: true })
  expect(requests.filter(sent => sent.method === 'POST')).toEqual([])
  expect((await axe.run(document.body, isAxe)).violations).toEqual([])
  await screen.getByLabelText('Type Interpreter to confirm').fill('Interpreter')
  await confirm.dblClick()
  await vi.waitFor(() => expect(onClose).toHaveBeenCalledOnce())
  expect(requests.filter(sent => sent.method === 'POST')).toEqual([
    { method: 'POST', path: '/directory/a1/takedown', body: { reason: 'It was wrong.' } },
  ])
})

it('offers to add an agent only to chats that it can join', async () => {
  const chats = [
    { chat: { id: 'direct', title: 'Bob', is_direct: true }, participants: [] },
    { chat: { id: 'travel', title: 'Travel', is_direct: false }, participants: [] },
  ]
  answerByPath({ 'GET /workspaces/w/chats': page(chats) })
  const workspace = { id: 'w', handle: 'lighthouse' } as WorkspaceRow
  const screen = await show(<AddToChatDialog actor={actor} workspace={workspace} onGo={vi.fn()} onClose={vi.fn()} />)
  await expect.element(screen.getByRole('listitem')).toHaveTextContent('Travel')
})
