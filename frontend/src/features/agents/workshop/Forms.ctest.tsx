import { useState } from 'react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import type { SpecContent } from '@/api'
import { answerByPath, withQueries } from '@/testing/restServer'
import { ToolsForm } from './Forms'

const getNames = (elements: readonly Element[]) => elements.map(element => element.getAttribute('aria-label'))

const offered = { policy: 'auto', is_available: true, server_name: '', schema_tokens: 100, id: null, schema: {} }
const tools = [
  { name: 'current_time', description: 'Return the time.', effect: 'read', config_schema: {}, ...offered },
  { name: 'web_fetch', description: 'Read a page.', effect: 'read', config_schema: {}, ...offered },
]

const content = {
  prompt: '',
  tools: [{ tool: 'current_time', is_enabled: true, usage_instructions: '', settings: {} }],
} as unknown as SpecContent

const onEdit = vi.fn()

function Tools({ isReadOnly }: { isReadOnly: boolean }) {
  const [value, setValue] = useState(content)
  const edit = (next: SpecContent) => {
    onEdit(next.tools.map(({ tool, is_enabled }) => [tool, is_enabled]))
    setValue(next)
  }
  return <ToolsForm content={value} isReadOnly={isReadOnly} onEdit={edit} workspaceId="w" mayTest />
}

beforeEach(() => {
  onEdit.mockReset()
  answerByPath({ 'GET /workspaces/w/tools': { results: tools } })
})
afterEach(() => vi.restoreAllMocks())

it('moves a tool that is switched to its group, counts it there, and keeps the focus on its switch', async () => {
  const screen = await render(withQueries(<Tools isReadOnly={false} />))
  const time = screen.getByRole('switch', { name: 'current_time' })
  const web = screen.getByRole('switch', { name: 'web_fetch' })
  await expect.element(time).toBeChecked()
  await expect.element(screen.getByRole('heading', { name: 'On 1' })).toBeVisible()
  await web.click()
  await expect.element(web).toBeChecked()
  await expect.element(web).toHaveFocus()
  await expect.element(screen.getByRole('heading', { name: 'On 2' })).toBeVisible()
  await time.click()
  await expect.element(screen.getByRole('heading', { name: 'Off 1' })).toBeVisible()
  expect(onEdit.mock.calls.at(-1)?.[0]).toEqual([
    ['current_time', false],
    ['web_fetch', true],
  ])
  expect(getNames(screen.getByRole('switch').elements())).toEqual(['web_fetch', 'current_time'])
})

it('shows the tools of the workspace first, by their description, and system tools by a text for people', async () => {
  const own = {
    ...offered,
    name: 'get_order',
    description: 'Find an order.',
    effect: 'read',
    config_schema: {},
    tool_type: 'workspace',
    server_name: 'Shop',
  }
  const memory = { ...own, name: 'remember', description: 'Ask the person you work for…', tool_type: 'system' }
  answerByPath({ 'GET /workspaces/w/tools': { results: [...tools, memory, own] } })
  const screen = await render(withQueries(<Tools isReadOnly={false} />))
  await expect.element(screen.getByText('Find an order.')).toBeVisible()
  await expect.element(screen.getByText('stores a note for later')).toBeVisible()
  expect(getNames(screen.getByRole('switch').elements())).toEqual([
    'current_time',
    'get_order',
    'web_fetch',
    'remember',
  ])
})

it('shows the states without switches when read-only', async () => {
  const screen = await render(withQueries(<Tools isReadOnly />))
  await expect.element(screen.getByText('current_time')).toBeVisible()
  await expect.element(screen.getByRole('switch')).not.toBeInTheDocument()
  await screen.getByRole('button', { name: /current_time/ }).click()
  await expect.element(screen.getByRole('textbox')).toHaveAttribute('readonly')
})
