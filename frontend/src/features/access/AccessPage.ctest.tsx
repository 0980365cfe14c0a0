import { afterEach, expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import { answerRequests, listChanges, page, withQueries } from '@/testing/restServer'
import { AccessPage } from './AccessPage'

const token = {
  id: 't',
  name: 'Bot',
  prefix: 'atl_ab',
  scope: 'read',
  expires_at: '2020-01-01T00:00:00Z',
  last_used_at: null,
}

afterEach(() => vi.restoreAllMocks())

it('says what a token may do and that it has expired, and revokes it after a question', async () => {
  const requests = answerRequests(({ method, path }) => {
    if (method === 'DELETE') return [200, {}]
    if (path.includes('/tokens')) return [200, page([token])]
    return [200, path.includes('/webhooks') ? page([]) : { runs_outside: false }]
  })
  const screen = await render(withQueries(<AccessPage agentId="a" name="Scribe" />))
  await expect.element(screen.getByText('atl_ab… · Only reads · expired · never used')).toBeVisible()
  await screen.getByRole('button', { name: 'Revoke Bot' }).click()
  await expect.element(screen.getByText('Programs that use it stop working at once.', { exact: false })).toBeVisible()
  expect(listChanges(requests)).toEqual([])
  await screen.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await vi.waitFor(() => expect(listChanges(requests)).toEqual([['DELETE /agents/a/tokens/t', null]]))
})
