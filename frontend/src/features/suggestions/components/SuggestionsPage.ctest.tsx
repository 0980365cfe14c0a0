import { afterEach, expect, it, vi } from 'vitest'
import { page as browserPage } from 'vitest/browser'
import { render } from 'vitest-browser-react'
import { defaultSpec, keys, type ListedSuggestionRow, type WorkspaceRow } from '@/api'
import { answerRequests, newQueryClient, page, withQueries } from '@/testing/restServer'
import { actor, suggestion } from '../suggestion.testing'
import { SuggestionsPage } from './SuggestionsPage'

const workspace = { id: 'w', verbs: [] } as unknown as WorkspaceRow
const spec = { id: 'v6', number: 6, content: defaultSpec }
const noop = () => undefined

async function open(list: ListedSuggestionRow[]) {
  await browserPage.viewport(1200, 800)
  answerRequests(({ path }) => {
    const id = path.match(/^\/suggestions\/(\w+)$/)?.[1]
    const row = list.find(each => each.id === id)
    if (row) return [200, { suggestion: { ...row, content: defaultSpec }, base: spec, production: spec }]
    if (path.startsWith('/workspaces/w/suggestions/count')) return [200, { pending: list.length }]
    if (path.startsWith('/workspaces/w/suggestions')) return [200, page(list)]
    return [200, page([])]
  })
  const client = newQueryClient()
  const suggestions = (
    <SuggestionsPage
      workspace={workspace}
      me={actor('alice')}
      search={{}}
      findActor={() => null}
      onSearch={noop}
      onOpenDraft={noop}
      onChat={noop}
    />
  )
  return { client, screen: await render(withQueries(suggestions, client)) }
}

afterEach(() => vi.restoreAllMocks())

it('keeps the same suggestion open when others are added, and names it before it is rejected', async () => {
  const list = [suggestion('s1', { note: 'Shorter answers' })]
  const { client, screen } = await open(list)
  const opened = screen.getByRole('heading', { level: 2 })
  await expect.element(opened).toHaveTextContent('Shorter answers')
  list.unshift(suggestion('s2', { note: 'Longer answers' }))
  await client.invalidateQueries({ queryKey: keys.suggestions('w') })
  await expect.element(screen.getByRole('button', { name: 'Longer answers' })).toBeVisible()
  await expect.element(opened).toHaveTextContent('Shorter answers')
  await screen.getByRole('button', { name: 'Reject…' }).click()
  await expect.element(screen.getByRole('dialog')).toHaveAccessibleName('Reject “Shorter answers”?')
  await screen.getByRole('button', { name: 'Cancel' }).click()
  await screen.getByRole('button', { name: 'Accept…' }).click()
  await expect.element(screen.getByRole('dialog')).toHaveAccessibleName('Accept “Shorter answers”')
})
