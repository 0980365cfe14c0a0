import { QueryClient } from '@tanstack/react-query'
import { expect, it } from 'vitest'
import { keys } from './keys'

it('invalidating the agents of a workspace invalidates each agent, and no other workspace', async () => {
  const client = new QueryClient()
  const whole = [keys.agent('w', 'robin'), keys.agent('v', 'scribe')]
  for (const key of whole) client.setQueryData(key, {})
  await client.invalidateQueries({ queryKey: keys.agents('w') })
  expect(whole.map(key => client.getQueryState(key)?.isInvalidated)).toEqual([true, false])
})
