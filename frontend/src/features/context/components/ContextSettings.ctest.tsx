import { afterEach, expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import { keys, type WorkspaceRow } from '@/api'
import { answerRequests, listChanges, newQueryClient, withQueries } from '@/testing/restServer'
import { ContextSettings } from './ContextSettings'

const workspace = { id: 'w', verbs: ['set_model'] } as unknown as WorkspaceRow

afterEach(() => vi.restoreAllMocks())

it('keeps unsaved input when another person saves, and shows the conflict', async () => {
  let stored = { strategy: 'summarise', max_tokens: 10_000, revision: 1 }
  const requests = answerRequests(({ method, body }) => {
    if (method === 'GET') return [200, stored]
    const sent = body as typeof stored
    if (sent.revision !== stored.revision) return [409, { error: { code: 'stale_revision', message: '' } }]
    stored = { ...sent, revision: sent.revision + 1 }
    return [200, stored]
  })
  const client = newQueryClient()
  const screen = await render(withQueries(<ContextSettings workspace={workspace} />, client))
  const [field, save] = [screen.getByRole('spinbutton'), screen.getByRole('button', { name: 'Save changes' })]
  await field.fill('20000')
  await save.click()
  // Its own change is no conflict for the next one.
  await expect.element(save).toHaveAttribute('aria-disabled', 'true')
  await field.fill('30000')
  stored = { ...stored, max_tokens: 50_000, revision: 3 }
  await client.invalidateQueries({ queryKey: keys.contextSettings('w') })
  await expect.element(field).toHaveValue(30_000)
  await save.click()
  await expect.element(screen.getByRole('alert')).toHaveTextContent('It was changed elsewhere in the meantime.')
  expect(listChanges(requests).map(([, body]) => body)).toEqual([
    { strategy: 'summarise', max_tokens: 20_000, revision: 1 },
    { strategy: 'summarise', max_tokens: 30_000, revision: 2 },
  ])
})
