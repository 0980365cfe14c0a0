import { afterEach, expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import type { WorkspaceRow } from '@/api'
import { answerRequests, listChanges, page, withQueries } from '@/testing/restServer'
import { EmbeddingSettings } from './EmbeddingSettings'

const workspace = { id: 'w', verbs: ['set_model'] } as unknown as WorkspaceRow
const none = { model: null, is_supported: true, chats: 0, due_chats: 0, failed_at: null }
const set = {
  ...none,
  model: { provider: 'openai', default_model: 'text-embedding-3-small', options: {}, has_key: true, revision: 3 },
  chats: 4,
  due_chats: 1,
}

const open = async (row: object, reader = workspace) => {
  const requests = answerRequests(({ path }) =>
    path === '/model-providers' ? [200, page([{ name: 'openai', label: 'OpenAI', fields: [] }])] : [200, row],
  )
  return { requests, screen: await render(withQueries(<EmbeddingSettings workspace={reader} />)) }
}

afterEach(() => vi.restoreAllMocks())

it('sets the model of a server, which needs no key', async () => {
  const { requests, screen } = await open(none)
  await expect.element(screen.getByText('None is set: older messages are found by their words.')).toBeVisible()
  const use = screen.getByRole('button', { name: 'Use embeddings' })
  await expect.element(use).toHaveAttribute('aria-disabled', 'true')
  await screen.getByLabelText('Provider of embeddings').selectOptions('openai_compatible')
  await screen.getByLabelText('Server URL').fill('http://127.0.0.1:11434/v1')
  await screen.getByLabelText('Embedding model').fill('bge-m3')
  await use.click()
  const body = {
    provider: 'openai_compatible',
    default_model: 'bge-m3',
    api_base: 'http://127.0.0.1:11434/v1',
    revision: 0,
  }
  await vi.waitFor(() => expect(listChanges(requests)).toEqual([['PUT /workspaces/w/embedding-model', body]]))
})

it('gives the key of one provider to no other', async () => {
  const { screen } = await open(none)
  await screen.getByLabelText('Provider of embeddings').selectOptions('openai')
  await screen.getByLabelText('Key').fill('sk-of-openai')
  await screen.getByLabelText('Provider of embeddings').selectOptions('openai_compatible')
  await expect.element(screen.getByLabelText('Key')).toHaveValue('')
})

it('says how far it has got and why it failed, and deletes the model after a question', async () => {
  const failed = { failed_at: '2026-11-24T08:00:00Z', failure_code: 'llm_auth', failure_message: 'Wrong key.' }
  const { requests, screen } = await open({ ...set, ...failed })
  await expect.element(screen.getByText(/3 of 4 long chats are ready/)).toBeVisible()
  await expect.element(screen.getByRole('status')).toHaveTextContent('Wrong key.')
  await screen.getByRole('button', { name: 'Stop using it' }).click()
  expect(listChanges(requests)).toEqual([])
  await screen.getByRole('dialog').getByRole('button', { name: 'Stop using it' }).click()
  await vi.waitFor(() => expect(listChanges(requests)).toEqual([['DELETE /workspaces/w/embedding-model', null]]))
})

it('offers no form to those who may not set it, or where the database cannot store embeddings', async () => {
  const { screen } = await open(set, { ...workspace, verbs: [] } as unknown as WorkspaceRow)
  await expect.element(screen.getByText('text-embedding-3-small')).toBeVisible()
  await expect.element(screen.getByRole('button')).not.toBeInTheDocument()
  screen.unmount()
  const other = await open({ ...none, is_supported: false })
  await expect.element(other.screen.getByText(/PostgreSQL extension “vector”/)).toBeVisible()
  await expect.element(other.screen.getByRole('button')).not.toBeInTheDocument()
})
