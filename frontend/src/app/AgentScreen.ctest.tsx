import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  RouterProvider,
} from '@tanstack/react-router'
import { afterEach, expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import { keys } from '@/api'
import { answerByPath, newQueryClient, page, withQueries } from '@/testing/restServer'
import { AgentTabScreen } from './AgentScreen'
import { ShellContext, type ShellValue } from './ShellContext'

const shell = { workspace: { id: 'w', handle: 'lighthouse' } } as unknown as ShellValue
const agent = (id: string) => ({ actor: { id, name: id }, verbs: [] })

function buildRouter() {
  const root = createRootRoute()
  const shellRoute = createRoute({ getParentRoute: () => root, path: '/w/$workspace', component: Outlet })
  const agentRoute = createRoute({ getParentRoute: () => shellRoute, path: '/agents/$agent', component: Outlet })
  const tab = createRoute({ getParentRoute: () => agentRoute, path: '/$tab', component: AgentTabScreen })
  const history = createMemoryHistory({ initialEntries: ['/w/lighthouse/agents/robin/runs'] })
  return createRouter({
    routeTree: root.addChildren([shellRoute.addChildren([agentRoute.addChildren([tab])])]),
    history,
  })
}

afterEach(() => vi.restoreAllMocks())

it('does not apply the filter of the runs of an agent to those of another one', async () => {
  const chat = {
    chat: { id: 'travel', title: 'Travel' },
    participants: [{ id: 'robin' }],
    last_message: null,
    hidden_seq: null,
    is_muted: false,
    muted_until: null,
    is_archived: false,
  }
  const requests = answerByPath({
    'GET /workspaces/w/chats': page([chat]),
    'GET /agents/robin/runs?state=all&limit=50': page([]),
    'GET /agents/robin/runs?state=all&limit=50&chat=travel': page([]),
    'GET /agents/scribe/runs?state=all&limit=50': page([]),
  })
  const client = newQueryClient()
  client.setDefaultOptions({ queries: { retry: false, staleTime: Number.POSITIVE_INFINITY } })
  for (const id of ['robin', 'scribe']) client.setQueryData(keys.agent('w', id), agent(id))
  const router = buildRouter()
  await router.load()
  const screen = await render(
    withQueries(
      <ShellContext value={shell}>
        <RouterProvider router={router} />
      </ShellContext>,
      client,
    ),
  )
  await screen.getByRole('combobox', { name: 'Chat' }).selectOptions('travel')
  await vi.waitFor(() => expect(requests.at(-1)?.path).toBe('/agents/robin/runs?state=all&limit=50&chat=travel'))
  await router.navigate({ href: '/w/lighthouse/agents/scribe/runs' })
  await vi.waitFor(() => expect(requests.at(-1)?.path).toBe('/agents/scribe/runs?state=all&limit=50'))
  await expect.element(screen.getByRole('combobox', { name: 'Chat' })).toHaveValue('')
})
