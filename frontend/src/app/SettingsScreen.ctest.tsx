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
import { answerByPath, page, withQueries } from '@/testing/restServer'
import { SettingsScreen } from './SettingsScreen'
import { ShellContext, type ShellValue } from './ShellContext'

const workspace = { id: 'w', name: 'Lighthouse', handle: 'lighthouse', verbs: ['invite'] }
const shell = { workspace, me: { actor: { id: 'me', name: 'Alice' } } } as unknown as ShellValue

function buildRouter() {
  const root = createRootRoute()
  const shellRoute = createRoute({ getParentRoute: () => root, path: '/w/$workspace', component: Outlet })
  const settings = createRoute({ getParentRoute: () => shellRoute, path: '/settings', component: SettingsScreen })
  const history = createMemoryHistory({ initialEntries: ['/w/lighthouse/settings?section=members'] })
  return createRouter({ routeTree: root.addChildren([shellRoute.addChildren([settings])]), history })
}

afterEach(() => vi.restoreAllMocks())

it('offers invitations only to chats that people can join', async () => {
  const chat = (id: string, title: string, is_direct: boolean) => ({
    chat: { id, title, is_direct },
    participants: [],
    last_message: null,
    hidden_seq: null,
    is_muted: false,
    muted_until: null,
    is_archived: false,
  })
  const requests = answerByPath({
    'GET /me': shell.me,
    'GET /workspaces/w/members': page([]),
    'GET /workspaces/w/chats': page([chat('direct', 'Bob', true), chat('travel', 'Travel', false)]),
    'GET /chats/travel/links': page([]),
  })
  const router = buildRouter()
  await router.load()
  const screen = await render(
    withQueries(
      <ShellContext value={shell}>
        <RouterProvider router={router} />
      </ShellContext>,
    ),
  )
  const select = screen.getByRole('combobox', { name: 'Chat', exact: true })
  await expect.element(select).toHaveValue('travel')
  await expect.element(select.getByRole('option')).toHaveTextContent('Travel')
  await vi.waitFor(() => expect(requests.map(sent => sent.path)).toContain('/chats/travel/links'))
})
