import axe from 'axe-core'
import { beforeEach, expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import type { OfferedToolRow } from '@/api'
import { OfferedTool } from './OfferedTool'

const testTool = vi.hoisted(() => vi.fn())
vi.mock('@/api', async original => ({ ...(await original<object>()), testTool }))

const tool: OfferedToolRow = {
  id: 't',
  name: 'hold_seats',
  title: '',
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

beforeEach(() => {
  testTool.mockReset()
  testTool.mockResolvedValue({ is_ok: true, text: 'HTTP 200 held', message: '', seconds: 0.2 })
})

it('shows the name, the description and the schema that the model reads', async () => {
  const screen = await render(<OfferedTool tool={tool} workspaceId="w" mayTest />)
  await screen.getByText('What the model reads').click()
  for (const text of ['hold_seats', 'Hold seats.', '"seats": {'])
    await expect.element(screen.getByText(text)).toBeVisible()
})

it('says that a test writes, and calls the tool once with the arguments of the form', async () => {
  const screen = await render(<OfferedTool tool={tool} workspaceId="w" mayTest />)
  await screen.getByRole('button', { name: 'Test…' }).click()
  const dialog = screen.getByRole('dialog', { name: 'Test hold_seats' })
  await expect.element(dialog.getByText(/This tool writes/)).toBeVisible()
  const call = dialog.getByRole('button', { name: 'Call it for real' })
  await expect.element(call).toHaveAttribute('aria-disabled', 'true')
  await dialog.getByLabelText('seats').fill('2')
  expect(testTool).not.toHaveBeenCalled()
  await call.click()
  await expect.element(dialog.getByText('HTTP 200 held')).toBeVisible()
  expect(testTool.mock.calls.map(([workspace, id, sent]) => [workspace, id, sent])).toEqual([['w', 't', { seats: 2 }]])
  expect((await axe.run(document.body, { rules: { region: { enabled: false } } })).violations).toEqual([])
})

it.each([
  ['who is no editor', tool, false, 'Only editors test tools.'],
  ['of a tool that is off', { ...tool, is_available: false }, true, 'It is switched off in this workspace.'],
] as const)('blocks the test for a reader %s', async (_who, row, mayTest, reason) => {
  const screen = await render(<OfferedTool tool={row} workspaceId="w" mayTest={mayTest} />)
  const button = screen.getByRole('button', { name: 'Test…' })
  await expect.element(button).toHaveAttribute('aria-description', reason)
  await button.click({ force: true })
  await expect.element(screen.getByRole('dialog')).not.toBeInTheDocument()
})

it('has no test for a system tool', async () => {
  const screen = await render(<OfferedTool tool={{ ...tool, id: null, tool_type: 'system' }} workspaceId="w" mayTest />)
  await expect.element(screen.getByText('What the model reads')).toBeVisible()
  await expect.element(screen.getByRole('button')).not.toBeInTheDocument()
})
