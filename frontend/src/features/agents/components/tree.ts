import type { ListedAgentRow } from '@/api'

interface TreeRow {
  agent: ListedAgentRow
  depth: number
}

/** Returns the agents of the workspace in the order of the tree: each agent before those that report to it, siblings by name. */
export function buildTree(agents: readonly ListedAgentRow[]): TreeRow[] {
  const ids = new Set(agents.map(agent => agent.actor.id)) // a parent that is not among them counts as none
  const rows: TreeRow[] = []
  const add = (parent: string | null, depth: number) => {
    const children = agents.filter(agent => (ids.has(agent.parent_id ?? '') ? agent.parent_id : null) === parent)
    for (const agent of children.toSorted((a, b) => a.actor.name.localeCompare(b.actor.name))) {
      rows.push({ agent, depth })
      add(agent.actor.id, depth + 1)
    }
  }
  add(null, 0)
  return rows
}

/** Returns whether an agent would report to itself if it reported to `parentId`. */
export function wouldReportToItself(agents: readonly ListedAgentRow[], id: string, parentId: string | null): boolean {
  for (let above = parentId; above !== null; ) {
    if (above === id) return true
    const current: string = above
    above = agents.find(agent => agent.actor.id === current)?.parent_id ?? null
  }
  return false
}

/**
 * Returns the parent that an agent gets when it is moved out (left) or in (right: under the sibling before it). Null:
 * it reports to nobody; undefined: it cannot be moved in this direction.
 */
export function findNewParent(rows: readonly TreeRow[], id: string, to: 'left' | 'right'): string | null | undefined {
  const index = rows.findIndex(row => row.agent.actor.id === id)
  const row = rows[index]
  if (!row) return undefined
  if (to === 'left') {
    const parent = rows.find(other => other.agent.actor.id === row.agent.parent_id)
    return parent ? (parent.agent.parent_id ?? null) : undefined
  }
  const before = rows.slice(0, index).findLast(other => other.depth <= row.depth)
  return before?.depth === row.depth ? before.agent.actor.id : undefined
}
