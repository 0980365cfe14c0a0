import { afterEach, expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import { answerByPath, listChanges, page, withQueries } from '@/testing/restServer'
import { TeamTemplates } from './TeamTemplates'

const avatar = { kind: 'emoji', emoji: '🗺️' }
const trip = {
  key: 'trip',
  name: 'Trip team',
  description: 'They plan a trip.',
  lead: { name: 'Travel lead', role: 'Leads the team', avatar },
  members: [{ name: 'Weather', role: 'Days, rain', avatar }],
}

afterEach(() => vi.restoreAllMocks())

it('creates a team by one click and opens its chat', async () => {
  const requests = answerByPath({
    'GET /team-templates?language=en': page([trip]),
    'POST /workspaces/w/teams': { lead: {}, members: [], chat_id: 'new' },
  })
  const onMade = vi.fn()
  const screen = await render(withQueries(<TeamTemplates workspaceId="w" onMade={onMade} />))
  await expect.element(screen.getByRole('listitem').nth(1)).toHaveTextContent('Weather')
  await screen.getByRole('button', { name: 'Create the team and its chat' }).click()
  await vi.waitFor(() => expect(onMade).toHaveBeenCalledWith('new'))
  expect(listChanges(requests)).toEqual([['POST /workspaces/w/teams', { template: 'trip' }]])
})
