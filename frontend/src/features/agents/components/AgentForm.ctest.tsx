import { afterEach, expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import { answerRequests, listChanges, page, withQueries } from '@/testing/restServer'
import { AgentForm } from './AgentForm'

const scribe = {
  key: 'scribe',
  name: 'Scribe',
  description: 'Writes.',
  prompt: 'You are Scribe.',
  greeting: 'Hello',
  tools: [],
  avatar: { kind: 'emoji', emoji: '📝' },
}
const agent = {
  name: 'Fare Watch',
  description: 'Watches fares.',
  prompt: 'You are Fare Watch.\n<b>Ask</b> for dates.',
  questions: ['What does it cost?'],
}
const PATH = '/workspaces/w/agent-proposals'
const running = { id: 'p', state: 'running', agent: null, provider: '', model: '', error_code: '', error: '' }

/** What the server says of the proposal, one answer after the other. */
let proposals: object[]

async function open() {
  const requests = answerRequests(({ method, path }) => {
    if (path === '/agent-templates?language=en') return [200, page([scribe])]
    if (path === '/team-templates?language=en') return [200, page([])]
    if (path.startsWith(PATH)) return [method === 'POST' ? 202 : 200, { ...running, ...proposals.shift() }]
    return [201, { chat_id: 'new' }]
  })
  const onMade = vi.fn()
  const onPreview = vi.fn()
  const screen = await render(
    withQueries(<AgentForm workspaceId="w" onMade={onMade} action="Create" onPreview={onPreview} />),
  )
  await screen.getByLabelText('Or describe it in one sentence').fill('Watch fares')
  return { requests, screen, onMade, onPreview }
}

afterEach(() => vi.restoreAllMocks())

it('shows what the model proposes, and creates only what the person has edited', async () => {
  proposals = [{}, { state: 'completed', agent, provider: 'openai', model: 'large' }]
  const { requests, screen, onMade, onPreview } = await open()
  await screen.getByRole('button', { name: 'Write a prompt from it' }).click()
  const region = screen.getByRole('region', { name: 'Proposed agent' })
  await expect.element(region).toHaveTextContent('Written by large. Nothing is saved until you create the agent.')
  await expect.element(region).toHaveTextContent('What does it cost?')
  await expect.element(screen.getByLabelText('Prompt')).toHaveValue(agent.prompt)
  await expect.element(screen.getByLabelText('Name')).toHaveValue('Fare Watch')
  await vi.waitFor(() => expect(onPreview).toHaveBeenLastCalledWith(expect.objectContaining({ prompt: agent.prompt })))
  expect(listChanges(requests)).toEqual([[`POST ${PATH}`, { sentence: 'Watch fares' }]])

  await screen.getByLabelText('Prompt').fill('You are mine.')
  await screen.getByRole('button', { name: 'Create' }).click()
  await vi.waitFor(() => expect(onMade).toHaveBeenCalledWith('new'))
  expect(listChanges(requests)[1]).toEqual([
    'POST /workspaces/w/agents',
    {
      name: 'Fare Watch',
      open_chat: true,
      avatar: expect.objectContaining({ kind: 'letter' }),
      template: 'blank',
      prompt: 'You are mine.',
      description: agent.description,
      questions: agent.questions,
    },
  ])
})

it('says that the demo model has used a pattern, and gives the sentence back', async () => {
  proposals = [{ state: 'completed', agent, provider: 'demo', model: 'demo' }]
  const { screen } = await open()
  await screen.getByRole('button', { name: 'Write a prompt from it' }).click()
  await expect.element(screen.getByRole('status')).toHaveTextContent('The demo model has put your sentence')
  await screen.getByRole('button', { name: 'Use my sentence instead' }).click()
  await expect.element(screen.getByRole('region', { name: 'Proposed agent' })).not.toBeInTheDocument()
  await expect.element(screen.getByLabelText('Name')).toHaveValue('')
  await expect.element(screen.getByLabelText('Or describe it in one sentence')).toHaveValue('Watch fares')
})

it('says why there is no proposal, keeps the last one, and asks again', async () => {
  proposals = [
    { state: 'failed', error_code: 'budget_used_up' },
    { state: 'completed', agent, provider: 'openai', model: 'large' },
    { state: 'failed', error_code: 'answer_invalid' },
  ]
  const { screen } = await open()
  await screen.getByRole('button', { name: 'Write a prompt from it' }).click()
  await expect.element(screen.getByRole('alert')).toHaveTextContent('Too little is left of its budget.')
  await screen.getByRole('button', { name: 'Write a prompt from it' }).click()
  await expect.element(screen.getByLabelText('Prompt')).toHaveValue(agent.prompt)
  await expect.element(screen.getByRole('alert')).not.toBeInTheDocument()
  await screen.getByRole('button', { name: 'Write another one' }).click()
  await expect.element(screen.getByRole('alert')).toHaveTextContent("The model's answer could not be used.")
  await expect.element(screen.getByLabelText('Prompt')).toHaveValue(agent.prompt)
})

it('leaves the proposal for a template, and needs a sentence', async () => {
  proposals = [{ state: 'completed', agent, provider: 'openai', model: 'large' }]
  const { requests, screen } = await open()
  await screen.getByRole('button', { name: 'Write a prompt from it' }).click()
  await expect.element(screen.getByLabelText('Prompt')).toHaveValue(agent.prompt)
  await screen.getByText('Writes.').click()
  await expect.element(screen.getByRole('region', { name: 'Proposed agent' })).not.toBeInTheDocument()
  await expect.element(screen.getByLabelText('Name')).toHaveValue('Scribe')
  await expect
    .element(screen.getByRole('button', { name: 'Write a prompt from it' }))
    .toHaveAttribute('aria-disabled', 'true')
  expect(listChanges(requests)).toHaveLength(1)
})
