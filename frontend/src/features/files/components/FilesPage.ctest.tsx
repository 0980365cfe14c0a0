import { useState } from 'react'
import { afterEach, expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import { keys, type WorkspaceRow } from '@/api'
import { answerByPath, answerRequests, newQueryClient, page, withQueries } from '@/testing/restServer'
import { FilesPage } from './FilesPage'

const workspace = { id: 'w', verbs: ['delete_any_file'] } as unknown as WorkspaceRow

const file = (id: string, name: string, workspace_id = 'w') => ({
  id,
  name,
  workspace_id,
  chat_id: null,
  content_type: 'image/png',
  created_at: '2026-05-01T10:00:00Z',
  has_thumbnail: false,
  height: null,
  kind: 'image',
  pages: null,
  posted: true,
  size: 1_000,
  state: 'ready',
  uploaded_by: null,
  width: null,
})

const MISSING = 'This file does not exist, or you may not see it.'
const LIST = '/workspaces/w/files?limit=50'

function Files({ initial }: { initial: string }) {
  const [open, setOpen] = useState<string | null>(initial)
  return <FilesPage workspace={workspace} me="me" open={open ?? undefined} onOpen={setOpen} renderPlace={() => null} />
}

afterEach(() => vi.restoreAllMocks())

it('reads the file of the URL that is on none of the loaded pages', async () => {
  answerByPath({
    [`GET ${LIST}`]: { results: [file('new', 'new.png')], next: 'next' },
    'GET /files/old': file('old', 'old.png'),
  })
  const screen = await render(withQueries(<Files initial="old" />))
  await expect.element(screen.getByRole('heading', { name: 'old.png' })).toBeVisible()
  await screen.getByRole('button', { name: 'Close' }).click()
  await expect.element(screen.getByRole('heading', { name: 'old.png' })).not.toBeInTheDocument()
  await expect.element(screen.getByText(MISSING)).not.toBeInTheDocument()
})

it.each([
  ['waiting', 'being read…'],
  ['failed', "can't be read"],
  ['ready', 'There is no text in this file.'],
])('says why the text of a file that is %s is empty', async (state, text) => {
  answerByPath({
    [`GET ${LIST}`]: page([{ ...file('new', 'new.pdf'), kind: 'document', content_type: 'application/pdf', state }]),
    'GET /files/new/text': { text: '', is_cut: false, state },
  })
  const screen = await render(withQueries(<Files initial="new" />))
  await expect.element(screen.getByText(text, { exact: true })).toBeVisible()
})

it.each([
  ['password', 'needs a password', 'This file needs a password. Upload a copy without one, and agents can read it.'],
  ['scanned', 'no text, probably scanned', 'The pages of this file have no text; they are probably scanned.'],
])('says in the row and beside it that a file has no text because of: %s', async (no_text_reason, fact, advice) => {
  const row = { ...file('new', 'new.pdf'), kind: 'pdf', pages: 1, state: 'failed', no_text_reason }
  answerByPath({ [`GET ${LIST}`]: page([row]) })
  const screen = await render(withQueries(<Files initial="" />))
  await expect.element(screen.getByText(`1 page · ${fact}`)).toBeVisible()
  await screen.getByRole('button', { name: 'new.pdf' }).click()
  await expect.element(screen.getByText(advice)).toBeVisible()
})

it('says in which encoding a text was saved, unless in UTF-8', async () => {
  const rows = ['Big5', 'UTF-8'].map(encoding => ({ ...file(encoding, `${encoding}.csv`), kind: 'text', encoding }))
  answerByPath({ [`GET ${LIST}`]: page(rows) })
  const screen = await render(withQueries(<Files initial="" />))
  await expect.element(screen.getByText('Big5 · ')).toBeVisible()
  await expect.element(screen.getByText('UTF-8 · ')).not.toBeInTheDocument()
})

it('reads no file that the list has', async () => {
  const requests = answerByPath({ [`GET ${LIST}`]: page([file('new', 'new.png')]) })
  const screen = await render(withQueries(<Files initial="new" />))
  await expect.element(screen.getByRole('heading', { name: 'new.png' })).toBeVisible()
  expect(requests.map(sent => sent.path)).toEqual([LIST])
})

it.each([
  ['does not exist', {}],
  ['is in another workspace', { 'GET /files/old': file('old', 'old.png', 'other') }],
])('says that the file of the URL is missing if it %s', async (_, answers) => {
  answerByPath({ [`GET ${LIST}`]: page([file('new', 'new.png')]), ...answers })
  const screen = await render(withQueries(<Files initial="old" />))
  await expect.element(screen.getByText(MISSING)).toBeVisible()
  await expect.element(screen.getByRole('heading', { name: 'old.png' })).not.toBeInTheDocument()
  await screen.getByRole('button', { name: 'Close' }).click()
  await screen.getByRole('button', { name: 'new.png' }).click()
  await expect.element(screen.getByRole('heading', { name: 'new.png' })).toBeVisible()
  await expect.element(screen.getByText(MISSING)).not.toBeInTheDocument()
})

it('closes a file that is deleted, even if the list has lost it before the answer', async () => {
  const client = newQueryClient()
  let answer = () => {}
  const files = [file('new', 'new.png')]
  answerRequests(async ({ method, path }) => {
    if (method === 'DELETE') {
      files.pop()
      void client.invalidateQueries({ queryKey: keys.files('w') })
      await new Promise<void>(resolve => {
        answer = resolve
      })
      return [200, null]
    }
    return path === LIST ? [200, page(files)] : [404, { error: { code: 'not_found', message: 'Not found.' } }]
  })
  const screen = await render(withQueries(<Files initial="new" />, client))
  await screen.getByRole('button', { name: 'Delete…' }).click()
  await screen.getByRole('button', { name: 'Delete', exact: true }).click()
  await expect.element(screen.getByText(MISSING)).toBeVisible()
  answer()
  await expect.element(screen.getByText('No files yet')).toBeVisible()
  await expect.element(screen.getByText(MISSING)).not.toBeInTheDocument()
})

it('closes a file that is deleted before the list is read again', async () => {
  let isDeleted = false
  answerRequests(({ method, path }) => {
    if (method === 'DELETE') isDeleted = true
    else if (isDeleted) return new Promise(() => undefined)
    return path === LIST ? [200, page([file('new', 'new.png')])] : [200, null]
  })
  const screen = await render(withQueries(<Files initial="new" />))
  await screen.getByRole('button', { name: 'Delete…' }).click()
  await screen.getByRole('button', { name: 'Delete', exact: true }).click()
  await expect.element(screen.getByRole('heading', { name: 'new.png' })).not.toBeInTheDocument()
})
