import { type ReactNode, useState } from 'react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { userEvent } from 'vitest/browser'
import { render } from 'vitest-browser-react'
import type { ToolJobRow, ToolServerRow, WorkspaceToolRow } from '@/api'
import { answerByPath, answerRequests, listChanges, page, withQueries } from '@/testing/restServer'
import { AddHttpServerDialog, AddMcpServerDialog } from './AddServerDialog'
import { ApproveToolDialog } from './ApproveToolDialog'
import { ImportDialog } from './ImportDialog'
import { ReplaceCredentialDialog } from './ReplaceCredentialDialog'
import { ToolFormDialog } from './ToolFormDialog'

const tool: WorkspaceToolRow = {
  id: 'tool',
  server_id: 'server',
  name: 'find_seats',
  remote_name: '',
  title: '',
  description: 'Find free seats.',
  effect: 'read',
  input_schema: { type: 'object', properties: { day: { type: 'string' } }, required: [], additionalProperties: false },
  output_schema: null,
  is_enabled: true,
  off_reason: null,
  hash: 'a'.repeat(64),
  pending: null,
  policy: 'auto',
  is_idempotent: false,
  timeout_s: 30,
  request: {
    method: 'GET',
    path: '/seats',
    arguments: [{ name: 'day', where: 'query', target: '', style: '', explode: false }],
    body: 'none',
    is_from_root: false,
    content_type: '',
  },
  annotations: {},
  revision: 7,
}
const server: ToolServerRow = {
  id: 'server',
  kind: 'http',
  name: 'Booking',
  base_url: 'https://booking.example.org',
  auth: 'none',
  auth_name: '',
  credential_last4: null,
  state: 'untested',
  tested_at: null,
  error_code: null,
  last_error: '',
  can_sign_in: false,
  signed_in_by: null,
  revision: 1,
  tools: [tool],
}

const onOpenChange = vi.fn()
const open = (dialog: ReactNode) => render(withQueries(dialog))
const shared = { workspaceId: 'w', open: true, onOpenChange }

/** The state of a server that lists everything as it was; each test adds what it changes. */
let answers: Record<string, unknown>
let requests: ReturnType<typeof answerByPath>
/** Returns what was sent to change something, once the dialog has closed. */
async function waitForChanges() {
  await vi.waitFor(() => expect(onOpenChange).toHaveBeenCalledWith(false))
  return listChanges(requests)
}

beforeEach(() => {
  onOpenChange.mockReset()
  answers = {
    'GET /workspace-tools/tool/agents': page([{ actor: { name: 'Scribe' } }, { actor: { name: 'Clerk' } }]),
    'PATCH /workspace-tools/tool': tool,
    'PUT /workspace-tools/tool/approval': tool,
    'POST /workspaces/w/http-servers': server,
    'POST /workspaces/w/mcp-servers': server,
    'PATCH /tool-servers/server': server,
  }
  requests = answerByPath(answers)
})
afterEach(() => vi.restoreAllMocks())

it('changes a tool by the form it was made with, and names the agents that have the old name', async () => {
  const screen = await open(<ToolFormDialog {...shared} server={server} tool={tool} />)
  await expect.element(screen.getByLabelText('Path', { exact: true })).toHaveValue('/seats')
  expect(screen.getByText('Scribe, Clerk').elements()).toEqual([])
  await userEvent.fill(screen.getByLabelText('Name').nth(0).element(), 'hold_seats')
  await expect.element(screen.getByText(/^Scribe, Clerk will work without it until/)).toBeVisible()
  await userEvent.selectOptions(screen.getByLabelText('Method').element(), 'POST')
  await userEvent.fill(screen.getByLabelText('Time limit (seconds)').element(), '45')
  await screen.getByRole('checkbox', { name: /repeated call/ }).click()
  await screen.getByRole('button', { name: 'Save changes' }).click()
  expect(await waitForChanges()).toEqual([
    [
      'PATCH /workspace-tools/tool',
      {
        revision: 7,
        name: 'hold_seats',
        is_idempotent: true,
        timeout_s: 45,
        form: {
          description: 'Find free seats.',
          method: 'POST',
          path: '/seats',
          effect: 'write',
          body: 'json',
          arguments: [{ name: 'day', where: 'query', target: '', type: 'string', description: '', is_required: false }],
        },
      },
    ],
  ])
})

it('changes only the name, the effect and the limits of an imported tool', async () => {
  const screen = await open(<ToolFormDialog {...shared} server={{ ...server, kind: 'openapi' }} tool={tool} />)
  expect(screen.getByLabelText('Path', { exact: true }).elements()).toEqual([])
  await userEvent.fill(screen.getByLabelText('Name').element(), 'search_seats')
  await screen.getByRole('button', { name: 'Save changes' }).click()
  expect(await waitForChanges()).toEqual([
    [
      'PATCH /workspace-tools/tool',
      { revision: 7, name: 'search_seats', is_idempotent: false, timeout_s: 30, effect: 'read' },
    ],
  ])
})

it('makes an argument of each name in the path, and marks the path if one is missing', async () => {
  answers['POST /tool-servers/server/tools'] = tool
  const onAdded = vi.fn()
  const screen = await open(<ToolFormDialog {...shared} server={server} onAdded={onAdded} />)
  await userEvent.fill(screen.getByLabelText('Name').nth(0).element(), 'get_order')
  await userEvent.fill(screen.getByLabelText('Description').nth(0).element(), 'Find an order.')
  const path = screen.getByLabelText('Path', { exact: true })
  await userEvent.fill(path.element(), '/orders/{order}')
  await expect.element(screen.getByRole('textbox', { name: 'Name' }).nth(1)).toHaveValue('order')
  await screen.getByRole('button', { name: 'Remove the argument' }).click()
  await expect.element(screen.getByText('order in the path has no argument.')).toBeVisible()
  await screen.getByRole('button', { name: 'Add a tool' }).click()
  await expect.element(path).toHaveFocus()
  expect(listChanges(requests)).toEqual([])
  await userEvent.fill(path.element(), '/orders/{order}/items')
  await screen.getByRole('button', { name: 'Add a tool' }).click()
  const [[, sent] = []] = await waitForChanges()
  expect(sent).toMatchObject({
    form: { path: '/orders/{order}/items', arguments: [{ name: 'order', where: 'path', is_required: true }] },
  })
  expect(onAdded).toHaveBeenCalledWith([tool])
})

it('does not send a form without a name', async () => {
  const screen = await open(<ToolFormDialog {...shared} server={server} />)
  await screen.getByRole('button', { name: 'Add a tool' }).click()
  await expect.element(screen.getByLabelText('Name').nth(0)).toHaveAttribute('aria-invalid', 'true')
  expect(listChanges(requests)).toEqual([])
})

it('offers each kind of server its own ways to sign in', async () => {
  const screen = await open(<AddHttpServerDialog {...shared} />)
  await userEvent.fill(screen.getByLabelText('Name').element(), ' Booking ')
  await userEvent.fill(screen.getByLabelText('Base URL').element(), 'https://booking.example.org')
  await userEvent.selectOptions(screen.getByLabelText('Sign-in').element(), 'basic')
  await userEvent.fill(screen.getByLabelText('User name').element(), 'robin')
  await userEvent.fill(screen.getByLabelText('Password').element(), 'secret-1')
  await screen.getByRole('button', { name: 'Add the server' }).click()
  expect(await waitForChanges()).toEqual([
    [
      'POST /workspaces/w/http-servers',
      {
        kind: 'http',
        name: 'Booking',
        base_url: 'https://booking.example.org',
        auth: 'basic',
        auth_name: 'robin',
        credential: 'secret-1',
        headers: {},
      },
    ],
  ])
})

it('adds an MCP server with a sign-in in the browser, which needs no key', async () => {
  const screen = await open(<AddMcpServerDialog {...shared} />)
  await userEvent.fill(screen.getByLabelText('Name').element(), 'Mailroom')
  await userEvent.fill(screen.getByLabelText('Server URL').element(), 'https://mail.example.org/mcp')
  await userEvent.selectOptions(screen.getByLabelText('Sign-in').element(), 'oauth')
  await expect.element(screen.getByText(/You sign in after it is added/)).toBeVisible()
  await screen.getByRole('button', { name: 'Add and list its tools' }).click()
  expect(await waitForChanges()).toEqual([
    [
      'POST /workspaces/w/mcp-servers',
      { name: 'Mailroom', base_url: 'https://mail.example.org/mcp', auth: 'oauth', auth_name: '', credential: '' },
    ],
  ])
})

it('replaces the credential of a server and nothing else', async () => {
  const screen = await open(<ReplaceCredentialDialog {...shared} server={{ ...server, auth: 'basic', revision: 3 }} />)
  await userEvent.fill(screen.getByLabelText('Password').element(), 'secret-2')
  await screen.getByRole('button', { name: 'Replace', exact: true }).click()
  expect(await waitForChanges()).toEqual([['PATCH /tool-servers/server', { revision: 3, credential: 'secret-2' }]])
})

it('shows only the parts of a definition that its server has changed', async () => {
  const pending = { ...tool, hash: 'b'.repeat(64), annotations: { destructiveHint: true } }
  const changed: WorkspaceToolRow = { ...tool, is_enabled: false, off_reason: 'changed', pending }
  const screen = await open(<ApproveToolDialog {...shared} tool={changed} mayChange />)
  await expect.element(screen.getByRole('list', { name: 'Annotations' })).toHaveTextContent('"destructiveHint": true')
  expect(screen.getByRole('heading', { name: 'Description' }).elements()).toEqual([])
  await screen.getByRole('button', { name: 'Approve the new text' }).click()
  expect(await waitForChanges()).toEqual([
    ['PUT /workspace-tools/tool/approval', { hash: 'b'.repeat(64), effect: 'read' }],
  ])
})

const job: ToolJobRow = {
  id: 'job',
  state: 'done',
  is_ok: true,
  message: '',
  seconds: 0.1,
  text: '',
  document: {
    title: 'Fares',
    version: '3.1.0',
    base_url: 'https://fares.example.org',
    auth: 'none',
    auth_name: '',
    size: 20,
    operations: [],
    left_out: 12,
  },
}

it('reads a chosen file at once, and refuses one that is no text or too large', async () => {
  answers['POST /workspaces/w/openapi-documents'] = job
  const screen = await open(<ImportDialog {...shared} />)
  const chooser = screen.getByLabelText('Choose a file…')
  await userEvent.upload(chooser, new File([new Uint8Array([255, 254, 0])], 'image.json'))
  await expect.element(screen.getByRole('alert')).toHaveTextContent('image.json is not a text file.')
  // Chosen here, because `upload` would send 8 MB through the test runner.
  const files = new DataTransfer()
  files.items.add(new File(['"'.repeat(8 * 1024 * 1024 + 1)], 'quotes.json'))
  const input = chooser.element() as HTMLInputElement
  input.files = files.files
  input.dispatchEvent(new Event('change', { bubbles: true }))
  await expect.element(screen.getByRole('alert')).toHaveTextContent('quotes.json is too large')
  expect(listChanges(requests)).toEqual([])
  await userEvent.upload(chooser, new File(['openapi: 3.1.0'], 'fares.yaml'))
  await expect.element(screen.getByText('fares.yaml')).toBeVisible()
  await expect.element(screen.getByLabelText('Base URL')).toHaveValue('https://fares.example.org')
  await expect.element(screen.getByText('and 12 more that are not listed')).toBeVisible()
  expect(listChanges(requests)).toEqual([['POST /workspaces/w/openapi-documents', { url: '', text: 'openapi: 3.1.0' }]])
  expect(screen.getByRole('alert').elements()).toEqual([])
  await screen.getByRole('button', { name: 'Remove the file' }).click()
  await expect.element(screen.getByLabelText('Document')).toHaveValue('')
  expect(screen.getByLabelText('Base URL').elements()).toEqual([])
})

it('reads another document after one that cannot be read, and after one that was read', async () => {
  let jobs = 0
  answerRequests(() => {
    jobs += 1
    return [200, jobs === 1 ? { ...job, document: null, message: 'Not found.' } : { ...job, id: `job-${jobs}` }]
  })
  const screen = await open(<ImportDialog {...shared} />)
  const source = screen.getByLabelText('Document', { exact: true })
  const read = screen.getByRole('button', { name: 'Read', exact: true })
  await userEvent.fill(source.element(), 'https://fares.example.org/old.json')
  await read.click()
  await expect.element(screen.getByText('Not found.')).toBeVisible()
  for (const path of ['openapi.json', 'next.json']) {
    await userEvent.fill(source.element(), `https://fares.example.org/${path}`)
    await read.click()
    await expect.element(screen.getByLabelText('Base URL')).toHaveValue('https://fares.example.org')
  }
  expect(jobs).toBe(3)
})

it('creates a server once, although its import is refused at first', async () => {
  let tries = 0
  requests = answerRequests(({ method, path }) => {
    if (method === 'GET') return [200, page([])]
    if (path.endsWith('/openapi-documents')) return [200, job]
    if (path.endsWith('/http-servers')) return [200, { ...server, id: 'fares' }]
    tries += 1
    return tries === 1
      ? [409, { error: { code: 'conflict', message: 'This name is taken.', hints: [] } }]
      : [200, { ...server, id: 'fares' }]
  })
  const screen = await open(<ImportDialog {...shared} />)
  await userEvent.fill(screen.getByLabelText('Document', { exact: true }).element(), 'openapi: 3.1.0')
  await screen.getByRole('button', { name: 'Read', exact: true }).click()
  const submit = screen.getByRole('button', { name: /^Add \d tool/ })
  await expect.element(screen.getByLabelText('Base URL')).toBeVisible()
  await submit.click()
  await expect.element(screen.getByRole('alert')).toBeVisible()
  expect(screen.getByLabelText('Base URL').elements()).toEqual([])
  await submit.click()
  await vi.waitFor(() => expect(onOpenChange).toHaveBeenCalledWith(false))
  expect(listChanges(requests).map(([request]) => request)).toEqual([
    'POST /workspaces/w/openapi-documents',
    'POST /workspaces/w/http-servers',
    'POST /tool-servers/fares/operations',
    'POST /tool-servers/fares/operations',
  ])
})

/** A dialog that stays mounted while it is closed, as on the page. */
function Reopened({ children }: { children(props: { open: boolean; onOpenChange(open: boolean): void }): ReactNode }) {
  const [isOpen, setOpen] = useState(true)
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Open
      </button>
      {children({ open: isOpen, onOpenChange: setOpen })}
    </>
  )
}

const pendingTool: WorkspaceToolRow = {
  ...tool,
  is_enabled: false,
  hash: '',
  pending: { ...tool, hash: 'b'.repeat(64) },
}

it.each([
  ['Add the server', 'Cancel', AddHttpServerDialog],
  ['Add and list its tools', 'Cancel', AddMcpServerDialog],
  [
    'Approve and switch on',
    'Keep it off',
    (props: Omit<typeof shared, 'onOpenChange'> & { onOpenChange(open: boolean): void }) => (
      <ApproveToolDialog {...props} tool={pendingTool} mayChange />
    ),
  ],
])('forgets the error of "%s" when it is closed', async (action, cancel, Dialog) => {
  answerRequests(() => [409, { error: { code: 'conflict', message: 'Refused.' } }])
  const screen = await open(<Reopened>{props => <Dialog workspaceId="w" {...props} />}</Reopened>)
  if (screen.getByLabelText('Name', { exact: true }).elements().length > 0) {
    await userEvent.fill(screen.getByLabelText('Name', { exact: true }).element(), 'Booking')
    await userEvent.fill(screen.getByLabelText(/URL$/).element(), 'http://10.0.0.1')
  }
  await screen.getByRole('button', { name: action }).click()
  await expect.element(screen.getByRole('alert')).toBeVisible()
  await screen.getByRole('button', { name: cancel }).click()
  await screen.getByRole('button', { name: 'Open' }).click()
  await expect.element(screen.getByRole('button', { name: action })).toBeVisible()
  expect(screen.getByRole('alert').elements()).toEqual([])
})
