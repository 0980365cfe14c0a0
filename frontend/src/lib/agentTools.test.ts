import { expect, it } from 'vitest'
import { buildAgentToolName, getCalledAgentId } from './agentTools'

it('reads the id of a public agent from the name of its tool', () => {
  expect(getCalledAgentId('agent_0190a8f0000070008000000000000001')).toBe('0190a8f0-0000-7000-8000-000000000001')
  expect(getCalledAgentId('agent_x')).toBeNull()
  expect(getCalledAgentId('delegate')).toBeNull()
})

it('builds the name of the tool of a public agent', () => {
  const id = '0190a8f0-0000-7000-8000-000000000001'
  expect(buildAgentToolName(id)).toBe('agent_0190a8f0000070008000000000000001')
  expect(getCalledAgentId(buildAgentToolName(id))).toBe(id)
})
