import { QueryClient } from '@tanstack/react-query'
import { expect, it } from 'vitest'
import { keys, type ListedAgentRow, type ServerFrame } from '@/api'
import { applyAgentStates } from './agentStates'

const agent = (id: string, state: ListedAgentRow['state']) => ({ actor: { id }, state }) as ListedAgentRow
const frame = (working: string[], idle: string[]): ServerFrame => ({
  type: 'agent_states',
  topic: 'workspace:w',
  working,
  waiting: [],
  idle,
})
const states = (client: QueryClient) => client.getQueryData<ListedAgentRow[]>(keys.agents('w'))?.map(row => row.state)

it('changes the agents that the frame names and leaves the others as they are', () => {
  const client = new QueryClient()
  const quill = agent('quill', 'idle')
  client.setQueryData(keys.agents('w'), [agent('robin', 'idle'), agent('scribe', 'working'), quill])
  applyAgentStates(client, 'w', frame(['robin'], ['scribe']))
  expect(states(client)).toEqual(['working', 'idle', 'idle'])
  expect(client.getQueryData<ListedAgentRow[]>(keys.agents('w'))?.[2]).toBe(quill)
})

it('does not change the list of another workspace or a list that was never read', () => {
  const client = new QueryClient()
  applyAgentStates(client, 'w', frame(['robin'], []))
  expect(states(client)).toBeUndefined()
  client.setQueryData(keys.agents('v'), [agent('robin', 'idle')])
  applyAgentStates(client, 'v', frame(['robin'], []))
  expect(client.getQueryData<ListedAgentRow[]>(keys.agents('v'))?.[0]?.state).toBe('idle')
})

it('reads the list again if a request for it was pending when the frame came', async () => {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } })
  const answers = ['working', 'idle'] as const
  let requestCount = 0
  const reading = client.fetchQuery({
    queryKey: keys.agents('w'),
    queryFn: () =>
      new Promise<ListedAgentRow[]>(done => setTimeout(done, 5, [agent('robin', answers[requestCount++] ?? 'idle')])),
  })
  applyAgentStates(client, 'w', frame([], ['robin']))
  await reading.catch(() => undefined)
  await client.refetchQueries({ queryKey: keys.agents('w') })
  expect(client.isFetching()).toBe(0)
  expect(states(client)).toEqual(['idle'])
})
