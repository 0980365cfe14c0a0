import { describe, expect, it } from 'vitest'
import { agentInView } from './shellActions'

const agents = ['scribe', 'robin', 'finch']
const nowhere = { agent: undefined, shop: undefined, members: [] }

describe('the agent whose versions G H opens', () => {
  it.each([
    ['of the page', { agent: 'finch', shop: 'robin', members: ['robin'] }, 'finch'],
    ['of the workshop', { ...nowhere, shop: 'finch', members: ['alice', 'robin', 'finch'] }, 'finch'],
    ['of the chat', { ...nowhere, members: ['alice', 'robin', 'finch'] }, 'robin'],
    ['of the workspace', nowhere, 'scribe'],
    ['of the workspace, in a chat of guests', { ...nowhere, shop: 'gone', members: ['alice', 'stranger'] }, 'scribe'],
  ])('is that %s', (_, view, id) => {
    expect(agentInView(agents, view)).toBe(id)
  })

  it('is none where there is none', () => expect(agentInView([], nowhere)).toBeUndefined())
})
