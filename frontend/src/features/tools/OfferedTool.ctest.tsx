import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import axe from 'axe-core'
import { afterEach, expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import type { OfferedToolRow } from '@/api'
import { answerByPath, listChanges } from '@/testing/restServer'
import { OfferedTool } from './OfferedTool'

const tool: OfferedToolRow = {
  id: 't',
  name: 'hold_seats',
  title: '',
  agent: null,
  publisher_name: null,
  description: 'Hold seats.',
  effect: 'write',
  tool_type: 'workspace',
  server_name: 'Booking',
  policy: 'ask',
  is_available: true,
  schema_tokens: 40,
  schema: { type: 'object', properties: { seats: { type: 'integer' } }, required: ['seats'] },
  output_schema: null,
  config_schema: {},
}

const renderTool = (element: React.ReactElement) =>
  render(<QueryClientProvider client={new QueryClient()}>{element}</QueryClientProvider>)

afterEach(() => vi.restoreAllMocks())

it('shows the name, the description and the schema that the model reads', async () => {
  const screen = await renderTool(<OfferedTool tool={tool} workspaceId="w" mayTest />)
  await screen.getByText('What the model reads').click()
  for (const text of ['hold_seats', 'Hold seats.', '"seats": {'])
    await expect.element(screen.getByText(text)).toBeVisible()
})

it('says that a test writes, and calls the tool with the arguments of the form, each time that is asked', async () => {
  const job = { id: 'j', state: 'done', is_ok: true, text: 'HTTP 200 held', message: '', seconds: 0.2, document: null }
  const requests = answerByPath({ 'POST /workspace-tools/t/test': job })
  const screen = await renderTool(<OfferedTool tool={tool} workspaceId="w" mayTest />)
  await screen.getByRole('button', { name: 'Test…' }).click()
  const dialog = screen.getByRole('dialog', { name: 'Test hold_seats' })
  await expect.element(dialog.getByText(/This tool writes/)).toBeVisible()
  const call = dialog.getByRole('button', { name: 'Call it for real' })
  await expect.element(call).toHaveAttribute('aria-disabled', 'true')
  await dialog.getByLabelText('seats').fill('2')
  expect(requests).toEqual([])
  await call.click()
  await expect.element(dialog.getByText('HTTP 200 held')).toBeVisible()
  expect(listChanges(requests)).toEqual([['POST /workspace-tools/t/test', { arguments: { seats: 2 } }]])
  await dialog.getByLabelText('seats').fill('3')
  await call.click()
  await expect.poll(() => listChanges(requests).length).toBe(2)
  expect((await axe.run(document.body, { rules: { region: { enabled: false } } })).violations).toEqual([])
})

it.each([
  ['who is no editor', tool, false, 'Only editors test tools.'],
  ['of a tool that is off', { ...tool, is_available: false }, true, 'It is switched off in this workspace.'],
] as const)('blocks the test for a reader %s', async (_who, row, mayTest, reason) => {
  const screen = await renderTool(<OfferedTool tool={row} workspaceId="w" mayTest={mayTest} />)
  const button = screen.getByRole('button', { name: 'Test…' })
  await expect.element(button).toHaveAttribute('aria-description', reason)
  await button.click({ force: true })
  await expect.element(screen.getByRole('dialog')).not.toBeInTheDocument()
})

it('has no test for a system tool', async () => {
  const screen = await renderTool(
    <OfferedTool tool={{ ...tool, id: null, tool_type: 'system' }} workspaceId="w" mayTest />,
  )
  await expect.element(screen.getByText('What the model reads')).toBeVisible()
  await expect.element(screen.getByRole('button')).not.toBeInTheDocument()
})
