import { expect, it } from 'vitest'
import { userEvent } from 'vitest/browser'
import { render } from 'vitest-browser-react'
import type { WorkspaceRow } from '@/api'
import { answerByPath, withQueries } from '@/testing/restServer'
import { DeleteWorkspace } from './DeleteWorkspace'

const workspace = { id: 'w1', name: 'Lighthouse', handle: 'lighthouse' } as unknown as WorkspaceRow
const doNothing = () => undefined

it('names the days in which the deletion can be undone', async () => {
  answerByPath({ 'GET /me': { workspace_purge_days: 3 } })
  const screen = await render(
    withQueries(<DeleteWorkspace workspace={workspace} onDeleted={doNothing} onGo={doNothing} />),
  )
  await expect.element(screen.getByText('can restore it for 3 days.')).toBeVisible()
  await userEvent.click(screen.getByRole('button', { name: 'Delete this workspace…' }))
  await expect.element(screen.getByRole('dialog')).toHaveTextContent('can restore it for 3 days, from the list')
})
