import { afterEach, expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import { answerByPath, listChanges, page, withQueries } from '@/testing/restServer'
import { AgentTools } from './AgentTools'

const name = 'agent_0190a8f0000070008000000000000001'
const tool = {
  name,
  title: 'Interpreter',
  tool_type: 'agent',
  policy: 'auto',
  agent: { id: 'a', avatar: null },
  publisher_name: 'Harbor',
}

afterEach(() => vi.restoreAllMocks())

it('shows the agents that are tools here, and sets the policy for one', async () => {
  const requests = answerByPath({
    'GET /workspaces/w/tools': page([{ ...tool, name: 'web_fetch', title: '', tool_type: 'system' }, tool]),
    [`PUT /workspaces/w/tools/${name}/policy`]: tool,
  })
  const screen = await render(withQueries(<AgentTools workspaceId="w" mayChange />))
  const section = screen.getByRole('region', { name: 'Agents as tools' })
  await expect.element(section.getByText('public, by Harbor')).toBeVisible()
  await expect.element(section.getByText('web_fetch')).not.toBeInTheDocument()
  await section.getByRole('combobox', { name: /Interpreter/ }).selectOptions('ask')
  await vi.waitFor(() =>
    expect(listChanges(requests)).toEqual([[`PUT /workspaces/w/tools/${name}/policy`, { policy: 'ask' }]]),
  )
})
