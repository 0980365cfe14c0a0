import { describe, expect, it } from 'vitest'
import { findAgentInView } from './shellActions'

const agents = ['scribe', 'robin', 'finch']
const nothingOpen = { agent: undefined, workshop: undefined, participants: [] }

describe('the agent whose versions G H opens', () => {
  it.each([
    ['of the page', { agent: 'finch', workshop: 'robin', participants: ['robin'] }, 'finch'],
    ['of the workshop', { ...nothingOpen, workshop: 'finch', participants: ['alice', 'robin', 'finch'] }, 'finch'],
    ['of the chat', { ...nothingOpen, participants: ['alice', 'robin', 'finch'] }, 'robin'],
    ['of the workspace', nothingOpen, 'scribe'],
    [
      'of the workspace, in a chat of guests',
      { ...nothingOpen, workshop: 'gone', participants: ['alice', 'stranger'] },
      'scribe',
    ],
  ])('is that %s', (_, view, id) => {
    expect(findAgentInView(agents, view)).toBe(id)
  })

  it('is none where there is none', () => expect(findAgentInView([], nothingOpen)).toBeUndefined())
})
