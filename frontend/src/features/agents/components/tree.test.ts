import { describe, expect, it } from 'vitest'
import type { ListedAgentRow } from '@/api'
import { buildTree, findNewParent, wouldReportToItself } from './tree'

const build = (name: string, parent: string | null): ListedAgentRow =>
  ({ actor: { id: name, name }, parent_id: parent }) as unknown as ListedAgentRow

const agents = [
  build('Writer', 'Lead'),
  build('Lead', null),
  build('Copy', null),
  build('Fares', 'Lead'),
  build('Late', 'Gone'),
]
const rows = buildTree(agents)

describe('the tree of agents', () => {
  it('has each agent before those that report to it, and agents without a known parent at the top', () => {
    expect(rows.map(row => [row.agent.actor.id, row.depth])).toEqual([
      ['Copy', 0],
      ['Late', 0],
      ['Lead', 0],
      ['Fares', 1],
      ['Writer', 1],
    ])
  })

  it('knows who would report to itself', () => {
    expect(wouldReportToItself(agents, 'Lead', 'Writer')).toBe(true)
    expect(wouldReportToItself(agents, 'Lead', 'Lead')).toBe(true)
    expect(wouldReportToItself(agents, 'Writer', 'Fares')).toBe(false)
    expect(wouldReportToItself(agents, 'Writer', null)).toBe(false)
  })

  it('moves an agent out, or under the sibling before it', () => {
    expect(findNewParent(rows, 'Writer', 'left')).toBe(null)
    expect(findNewParent(rows, 'Writer', 'right')).toBe('Fares')
    expect(findNewParent(rows, 'Fares', 'right')).toBe(undefined)
    expect(findNewParent(rows, 'Copy', 'left')).toBe(undefined)
  })
})
