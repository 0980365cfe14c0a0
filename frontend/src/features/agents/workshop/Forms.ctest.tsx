import { useState } from 'react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import type { SpecContent } from '@/api'
import { answerByPath, withQueries } from '@/testing/restServer'
import { ToolsForm } from './Forms'

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

it('keeps the position of a tool that is switched', async () => {
  const screen = await render(withQueries(<Tools isReadOnly={false} />))
  const time = screen.getByRole('switch', { name: 'current_time' })
  const web = screen.getByRole('switch', { name: 'web_fetch' })
  await expect.element(time).toBeChecked()
  await web.click()
  await expect.element(web).toBeChecked()
  await time.click()
  expect(onEdit.mock.calls.at(-1)?.[0]).toEqual([
    ['current_time', false],
    ['web_fetch', true],
  ])
  expect(
    screen
      .getByRole('switch')
      .elements()
      .map(element => element.getAttribute('aria-label')),
  ).toEqual(['current_time', 'web_fetch'])
})

it('shows the states without switches when read-only', async () => {
  const screen = await render(withQueries(<Tools isReadOnly />))
  await expect.element(screen.getByText('current_time')).toBeVisible()
  await expect.element(screen.getByRole('switch')).not.toBeInTheDocument()
  await screen.getByRole('button', { name: /current_time/ }).click()
  await expect.element(screen.getByRole('textbox')).toHaveAttribute('readonly')
})
