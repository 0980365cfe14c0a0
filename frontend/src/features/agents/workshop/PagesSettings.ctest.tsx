import { afterEach, expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import { answerByPath, newQueryClient, page, withQueries } from '@/testing/restServer'
import { PagesSettings } from './PagesSettings'

const LIST = 'GET /workspaces/w/files?limit=50&of_workspace=true'
const NO_FILES = 'The workspace has no files with a text yet. Upload some on the page Files.'
const READ_ONLY = 'You are no longer editing this draft, so the pages cannot be changed.'
const use = { tool: 'read_pages', is_enabled: true, usage_instructions: '', custom_config: {} }
const onChange = vi.fn()

const file = (name: string, kind: string) => ({ id: name, name, kind, workspace_id: 'w', chat_id: null })

/** Opens the dialog that adds pages. The returned function makes it read-only. */
async function openDialog() {
  const client = newQueryClient()
  const element = (isReadOnly: boolean) =>
    withQueries(<PagesSettings workspaceId="w" use={use} isReadOnly={isReadOnly} onChange={onChange} />, client)
  const screen = await render(element(false))
  await screen.getByRole('button', { name: 'Add pages…' }).click()
  return { dialog: screen.getByRole('dialog'), makeReadOnly: () => screen.rerender(element(true)) }
}

afterEach(() => {
  vi.restoreAllMocks()
  onChange.mockReset()
})

it('says that the pages cannot be changed any more when the lock is lost while the dialog is open', async () => {
  answerByPath({ [LIST]: page([file('notes.txt', 'text')]) })
  const { dialog, makeReadOnly } = await openDialog()
  const notes = dialog.getByRole('button', { name: 'notes.txt' })
  await expect.element(dialog.getByText(READ_ONLY)).not.toBeInTheDocument()
  await notes.click()
  expect(onChange.mock.calls).toEqual([[{ page_ids: ['notes.txt'] }]])
  await makeReadOnly()
  await expect.element(dialog.getByText(READ_ONLY)).toBeVisible()
  await expect.element(notes).toBeDisabled()
})

it('does not say that there are no files with a text before all were read', async () => {
  answerByPath({
    [LIST]: { results: [file('map.png', 'image')], next: 'two' },
    [`${LIST}&cursor=two`]: page([file('notes.txt', 'text')]),
  })
  const { dialog } = await openDialog()
  const more = dialog.getByRole('button', { name: 'Show more' })
  await expect.element(more).toBeVisible()
  await expect.element(dialog.getByText(NO_FILES)).not.toBeInTheDocument()
  await more.click()
  await expect.element(dialog.getByRole('button', { name: 'notes.txt' })).toBeVisible()
})

it('says that there are no files with a text', async () => {
  answerByPath({ [LIST]: page([file('map.png', 'image')]) })
  const { dialog } = await openDialog()
  await expect.element(dialog.getByText(NO_FILES)).toBeVisible()
})
