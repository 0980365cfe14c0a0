import { describe, expect, it } from 'vitest'
import { findAgentInView, getNext } from './shellActions'

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

describe('the next chat', () => {
  const chats = ['kyoto', 'osaka', 'nara']

  it.each([
    ['after the open one', 'kyoto', 1, 'osaka'],
    ['before the open one', 'osaka', -1, 'kyoto'],
    ['after the last one', 'nara', 1, 'kyoto'],
    ['before the first one', 'kyoto', -1, 'nara'],
    ['without an open one', undefined, 1, 'kyoto'],
    ['before, without an open one', undefined, -1, 'nara'],
    ['after one that is not in the list', 'gone', 1, 'kyoto'],
    ['before one that is not in the list', 'gone', -1, 'nara'],
  ] as const)('is the one %s', (_, from, step, next) => {
    expect(getNext<string>(chats, from, step)).toBe(next)
  })

  it('is none in an empty list', () => {
    expect(getNext([], undefined, 1)).toBeUndefined()
    expect(getNext([], undefined, -1)).toBeUndefined()
  })
})
