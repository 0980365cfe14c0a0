import { useState } from 'react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import { defaultSpec, type SpecContent } from '@/api'
import { answerByPath, answerRequests, page, withQueries } from '@/testing/restServer'
import { TeamForm, ToolsForm } from './Forms'

const getNames = (elements: readonly Element[]) => elements.map(element => element.getAttribute('aria-label'))

const offered = { policy: 'auto', is_available: true, server_name: '', schema_tokens: 100, id: null, schema: {} }
const tools = [
  { name: 'current_time', description: 'Return the time.', effect: 'read', config_schema: {}, ...offered },
  { name: 'web_fetch', description: 'Read a page.', effect: 'read', config_schema: {}, ...offered },
]

const content = {
  prompt: '',
  tools: [{ tool: 'current_time', is_enabled: true, usage_instructions: '', settings: {} }],
} as unknown as SpecContent

const onEdit = vi.fn()

function Tools({ isReadOnly }: { isReadOnly: boolean }) {
  const [value, setValue] = useState(content)
  const edit = (next: SpecContent) => {
    onEdit(next.tools.map(({ tool, is_enabled }) => [tool, is_enabled]))
    setValue(next)
  }
  return <ToolsForm content={value} isReadOnly={isReadOnly} onEdit={edit} workspaceId="w" mayTest />
}

beforeEach(() => {
  onEdit.mockReset()
  answerByPath({ 'GET /workspaces/w/tools': { results: tools } })
})
afterEach(() => vi.restoreAllMocks())

it('moves a tool that is switched to its group, counts it there, and keeps the focus on its switch', async () => {
  const screen = await render(withQueries(<Tools isReadOnly={false} />))
  const time = screen.getByRole('switch', { name: 'current_time' })
  const web = screen.getByRole('switch', { name: 'web_fetch' })
  await expect.element(time).toBeChecked()
  await expect.element(screen.getByRole('heading', { name: 'On 1' })).toBeVisible()
  await web.click()
  await expect.element(web).toBeChecked()
  await expect.element(web).toHaveFocus()
  await expect.element(screen.getByRole('heading', { name: 'On 2' })).toBeVisible()
  await time.click()
  await expect.element(screen.getByRole('heading', { name: 'Off 1' })).toBeVisible()
  expect(onEdit.mock.calls.at(-1)?.[0]).toEqual([
    ['current_time', false],
    ['web_fetch', true],
  ])
  expect(getNames(screen.getByRole('switch').elements())).toEqual(['web_fetch', 'current_time'])
})

it('shows the tools of the workspace first, by their description, and system tools by a text for people', async () => {
  const own = {
    ...offered,
    name: 'get_order',
    description: 'Find an order.',
    effect: 'read',
    config_schema: {},
    tool_type: 'workspace',
    server_name: 'Shop',
  }
  const memory = { ...own, name: 'remember', description: 'Ask the person you work for…', tool_type: 'system' }
  answerByPath({ 'GET /workspaces/w/tools': { results: [...tools, memory, own] } })
  const screen = await render(withQueries(<Tools isReadOnly={false} />))
  await expect.element(screen.getByText('Find an order.')).toBeVisible()
  await expect.element(screen.getByText('stores a note for later')).toBeVisible()
  expect(getNames(screen.getByRole('switch').elements())).toEqual([
    'current_time',
    'get_order',
    'web_fetch',
    'remember',
  ])
})

it('shows the states without switches when read-only', async () => {
  const screen = await render(withQueries(<Tools isReadOnly />))
  await expect.element(screen.getByText('current_time')).toBeVisible()
  await expect.element(screen.getByRole('switch')).not.toBeInTheDocument()
  await screen.getByRole('button', { name: /current_time/ }).click()
  await expect.element(screen.getByRole('textbox')).toHaveAttribute('readonly')
})

const actor = (id: string, name: string, workspace_id: string | null) => ({
  id,
  name,
  handle: name.toLowerCase(),
  kind: 'agent',
  workspace_id,
  avatar: null,
})
const own = [
  { actor: actor('lead', 'Lead', 'w'), accepts_tasks: true },
  { actor: actor('weather', 'Weather', 'w'), accepts_tasks: true },
  { actor: actor('finance', 'Finance', 'w'), accepts_tasks: true },
  { actor: actor('scribe', 'Scribe', 'w'), accepts_tasks: false },
]
const oracle = {
  actor: actor('o', 'Oracle', null),
  tool_name: 'agent_o',
  is_shipped: false,
  publisher_name: 'Elsewhere',
}
const browser = { actor: actor('b', 'Browser', null), tool_name: 'agent_b', is_shipped: true, publisher_name: null }

/** Shows the tab of the team of Lead, in which Weather gets tasks. Returns the teams that were edited. */
async function openTeam({ isReadOnly = false } = {}) {
  answerRequests(({ path }) => {
    if (path.startsWith('/workspaces/w/agents')) return [200, page(own)]
    if (path === '/directory/browser') return [200, browser]
    if (path === '/directory/agent_o') return [200, oracle]
    if (path.startsWith('/directory?')) return [200, page(path.includes('query=oracle') ? [oracle] : [])]
    return [404, { error: { code: 'not_found', message: '' } }]
  })
  const teams: SpecContent['team'][] = []
  const Team = () => {
    const [value, setValue] = useState({ ...defaultSpec, team: { ...defaultSpec.team, members: ['weather'] } })
    const edit = (next: SpecContent) => {
      teams.push(next.team)
      setValue(next)
    }
    return <TeamForm content={value} isReadOnly={isReadOnly} onEdit={edit} workspaceId="w" agentId="lead" />
  }
  const screen = await render(withQueries(<Team />))
  await expect.element(screen.getByText('Weather', { exact: true })).toBeVisible()
  return { screen, teams }
}

it('chooses the members of a team among the agents of the workspace that accept tasks, and those of the release', async () => {
  const { screen, teams } = await openTeam()
  await expect.element(screen.getByRole('checkbox', { name: 'Browser' })).not.toBeChecked()
  const names = screen
    .getByRole('checkbox')
    .elements()
    .map(element => element.getAttribute('aria-label'))
  expect(names).toEqual(['Browser', 'Weather', 'Finance'])
  await screen.getByRole('checkbox', { name: 'Finance' }).click()
  await screen.getByRole('checkbox', { name: 'Weather' }).click()
  expect(teams.map(team => team.members)).toEqual([['weather', 'finance'], ['finance']])
})

it('finds public agents for a team, and names them as tools', async () => {
  const { screen, teams } = await openTeam()
  const search = screen.getByRole('searchbox', { name: 'Find public agents' })
  await search.fill('nobody')
  await expect.element(screen.getByText('No public agent matches')).toBeVisible()
  await search.fill('oracle')
  await expect.element(screen.getByText('public, by Elsewhere')).toBeVisible()
  await screen.getByRole('checkbox', { name: 'Oracle' }).click()
  expect(teams.at(-1)?.members).toEqual(['weather', 'agent_o'])
  // It is in the list of the team now, and no longer among what was found.
  await expect.element(screen.getByText('It is in the list above.')).toBeVisible()
  await expect.element(screen.getByRole('checkbox', { name: 'Oracle' })).toBeChecked()
  expect(screen.getByRole('checkbox', { name: 'Oracle' }).elements()).toHaveLength(1)
})

it('edits the limits of boards, and clamps them', async () => {
  const { screen, teams } = await openTeam()
  const field = screen.getByLabelText('Tasks at once')
  await field.fill('99')
  await screen.getByLabelText('How to put the results together').fill('Dates first.')
  expect(teams.at(-1)).toMatchObject({ max_at_once: 10, aggregation: 'Dates first.', members: ['weather'] })
})

it('shows the team without controls when read-only', async () => {
  const { screen } = await openTeam({ isReadOnly: true })
  await expect.element(screen.getByRole('checkbox')).not.toBeInTheDocument()
  await expect.element(screen.getByRole('searchbox')).not.toBeInTheDocument()
  await expect.element(screen.getByLabelText('How to put the results together')).toHaveAttribute('readonly')
})
