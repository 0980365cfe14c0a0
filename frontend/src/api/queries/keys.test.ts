import { QueryClient } from '@tanstack/react-query'
import { expect, it } from 'vitest'
import { keys } from './keys'

it('invalidating the agents of a workspace invalidates each agent, and no other workspace', async () => {
  const client = new QueryClient()
  const agentKeys = [keys.agent('w', 'robin'), keys.agent('v', 'scribe')]
  for (const key of agentKeys) client.setQueryData(key, {})
  await client.invalidateQueries({ queryKey: keys.agents('w') })
  expect(agentKeys.map(key => client.getQueryState(key)?.isInvalidated)).toEqual([true, false])
})
