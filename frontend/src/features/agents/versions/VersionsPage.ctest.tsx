import { afterEach, expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import { type AgentRow, defaultSpec } from '@/api'
import { answerByPath, page, withQueries } from '@/testing/restServer'
import { VersionsPage } from './VersionsPage'

const spec = {
  id: 's1',
  number: 1,
  message: 'first',
  content: { ...defaultSpec, prompt: 'Be kind.' },
  author_id: 'alice',
  created_at: '2026-11-20T10:00:00Z',
}
const agent = {
  actor: { id: 'robin', name: 'Robin', workspace_id: 'w', avatar: null },
  spec,
  verbs: [],
} as unknown as AgentRow

const noop = () => undefined

function renderVersion(b: number) {
  answerByPath({
    'GET /agents/robin/versions': page([spec]),
    'GET /workspaces/w/suggestions?state=accepted&agent_id=robin': page([]),
    'GET /agents/robin/versions/1/replies?limit=20': page([]),
  })
  return render(
    withQueries(
      <VersionsPage
        agent={agent}
        search={{ b }}
        findActor={() => null}
        onBack={noop}
        onPick={noop}
        replyLink={noop}
        suggestionLink={noop}
      />,
    ),
  )
}

afterEach(() => vi.restoreAllMocks())

it('offers to export the version that is open', async () => {
  const screen = await renderVersion(1)
  await expect.element(screen.getByRole('button', { name: 'Export v1' })).toBeVisible()
})

it('does not offer to export a version that does not exist', async () => {
  const screen = await renderVersion(99)
  await expect.element(screen.getByText('There is no such version.')).toBeVisible()
  await expect.element(screen.getByRole('button', { name: /Export/ })).not.toBeInTheDocument()
})
