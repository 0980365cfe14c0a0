import { afterEach, expect, it, vi } from 'vitest'
import { userEvent } from 'vitest/browser'
import { render } from 'vitest-browser-react'
import type { ToolServerRow, WorkspaceRow, WorkspaceToolRow } from '@/api'
import { answerByPath, page, withQueries } from '@/testing/restServer'
import { ToolServers } from './ToolServers'

const workspace = { id: 'w', verbs: ['set_tools'] } as unknown as WorkspaceRow
const server = {
  id: 'server',
  kind: 'http',
  name: 'Shop',
  base_url: 'https://shop.example.org',
  auth: 'none',
  state: 'untested',
  last_error: '',
  tools: [],
} as unknown as ToolServerRow
const tool = {
  id: 'tool',
  server_id: 'server',
  name: 'get_order',
  description: 'Find an order.',
  effect: 'read',
  input_schema: {},
  is_enabled: true,
  policy: 'auto',
  timeout_s: 30,
} as unknown as WorkspaceToolRow
const fetchTool = {
  name: 'web_fetch',
  title: '',
  description: 'Ask the person you work for…',
  tool_type: 'system',
  policy: 'auto',
  effect: 'read',
}

afterEach(() => vi.restoreAllMocks())

it('leads from a new server to its first tool, and to the agents that have it', async () => {
  const answers: Record<string, unknown> = {
    'GET /workspaces/w/tool-servers': page([]),
    'GET /workspaces/w/tools': page([fetchTool]),
    'POST /workspaces/w/http-servers': server,
    'POST /tool-servers/server/tools': tool,
    'GET /workspace-tools/tool/agents': page([]),
  }
  answerByPath(answers)
  const screen = await render(withQueries(<ToolServers workspace={workspace} serverId="" />))
  await expect.element(screen.getByText('reads public pages')).toBeVisible()
  await expect.element(screen.getByText(/Ask the person/)).not.toBeInTheDocument()

  await screen.getByRole('button', { name: 'Add an HTTP server…' }).click()
  await userEvent.fill(screen.getByLabelText('Name').element(), 'Shop')
  await userEvent.fill(screen.getByLabelText('Base URL').element(), 'https://shop.example.org')
  answers['GET /workspaces/w/tool-servers'] = page([server])
  await screen.getByRole('button', { name: 'Add the server' }).click()
  const card = screen.getByRole('region', { name: 'Shop' })
  await expect.element(card.getByText('Next: add its first tool.')).toBeInViewport()
  await vi.waitFor(() => expect(document.activeElement?.id).toBe('server'))

  await card.getByRole('button', { name: 'Add a tool' }).click()
  await userEvent.fill(screen.getByLabelText('Name').nth(0).element(), 'get_order')
  await userEvent.fill(screen.getByLabelText('Description').nth(0).element(), 'Find an order.')
  answers['GET /workspaces/w/tool-servers'] = page([{ ...server, tools: [tool] }])
  await screen.getByRole('dialog').getByRole('button', { name: 'Add a tool' }).click()
  await expect.element(card.getByText(/^No agent has get_order yet\./)).toBeVisible()
})

it('says that the tools of an MCP server are to be switched on', async () => {
  const mcp = { ...server, kind: 'mcp', state: 'ok', tested_at: null, tools: [{ ...tool, is_enabled: false }] }
  answerByPath({ 'GET /workspaces/w/tool-servers': page([mcp]), 'GET /workspaces/w/tools': page([]) })
  const screen = await render(withQueries(<ToolServers workspace={workspace} serverId="" />))
  await expect.element(screen.getByText(/^Next: read its tools/)).toBeVisible()
})

it('says which agents have a tool that was imported together with its server', async () => {
  const imported = { ...server, kind: 'openapi', tools: [tool] }
  const operation = {
    key: 'get',
    method: 'GET',
    path: '/orders',
    name: 'get_order',
    effect: 'read',
    tag: '',
    problem: '',
  }
  const document = {
    ...{ title: 'Shop', version: '3.1.0', base_url: 'https://shop.example.org', auth: 'none', auth_name: '' },
    ...{ size: 20, operations: [operation], left_out: 0 },
  }
  const answers: Record<string, unknown> = {
    'GET /workspaces/w/tool-servers': page([]),
    'GET /workspaces/w/tools': page([]),
    'POST /workspaces/w/openapi-documents': { id: 'job', state: 'done', is_ok: true, message: '', document },
    'POST /workspaces/w/http-servers': imported,
    'POST /tool-servers/server/operations': page([tool]),
    'GET /workspace-tools/tool/agents': page([]),
  }
  answerByPath(answers)
  const screen = await render(withQueries(<ToolServers workspace={workspace} serverId="" />))
  await screen.getByRole('button', { name: 'Import from OpenAPI…' }).click()
  await userEvent.fill(screen.getByLabelText('Document', { exact: true }).element(), 'openapi: 3.1.0')
  await screen.getByRole('button', { name: 'Read', exact: true }).click()
  await screen.getByRole('checkbox', { name: 'GET /orders' }).click()
  answers['GET /workspaces/w/tool-servers'] = page([imported])
  await screen.getByRole('button', { name: 'Add 1 tool' }).click()
  const card = screen.getByRole('region', { name: 'Shop' })
  await expect.element(card.getByText(/^No agent has get_order yet\./)).toBeVisible()
})
