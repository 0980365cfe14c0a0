import { expect, it } from 'vitest'
import { getCalledAgentId } from './agentTools'

it('reads the id of a public agent from the name of its tool', () => {
  expect(getCalledAgentId('agent_0190a8f0000070008000000000000001')).toBe('0190a8f0-0000-7000-8000-000000000001')
  expect(getCalledAgentId('agent_x')).toBeNull()
  expect(getCalledAgentId('delegate')).toBeNull()
})
