import { expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import type { WorkspaceRow } from '@/api'
import { answerRequests, listChanges, withQueries } from '@/testing/restServer'
import { General } from './General'

const workspace = {
  id: 'w',
  name: 'Lighthouse',
  handle: 'u-497969',
  former_handles: [],
  time_zone: 'UTC',
  revision: 3,
  verbs: ['rename'],
} as unknown as WorkspaceRow
const doNothing = () => undefined

it('changes the handle of the workspace, and says at the field if it is taken', async () => {
  const taken = { error: { code: 'handle_taken', message: 'Taken.', hints: [] } }
  const requests = answerRequests(({ body }) =>
    (body as { handle?: string } | null)?.handle === 'harbour' ? [409, taken] : [200, {}],
  )
  const screen = await render(withQueries(<General workspace={workspace} onLeft={doNothing} onGo={doNothing} />))
  const field = screen.getByRole('textbox', { name: 'Handle in addresses' })
  const save = screen.getByRole('button', { name: 'Save changes' })
  await expect.element(save).toHaveAttribute('aria-disabled', 'true')
  await field.fill('harbour')
  await expect.element(screen.getByText(/\/w\/harbour\. Addresses with the old handle/)).toBeVisible()
  await save.click()
  await expect.element(field).toHaveAccessibleDescription('This name is taken. Choose another.')
  await field.fill('quay')
  await save.click()
  const sent = (handle: string) => [
    'PATCH /workspaces/w',
    { name: 'Lighthouse', time_zone: 'UTC', handle, revision: 3 },
  ]
  await vi.waitFor(() => expect(listChanges(requests)).toEqual([sent('harbour'), sent('quay')]))
})
