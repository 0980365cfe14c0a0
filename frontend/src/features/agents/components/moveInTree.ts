import type { QueryClient } from '@tanstack/react-query'
import { keys, type ListedAgentRow, moveAgent } from '@/api'
import { getCodeText, getErrorText } from '@/lib/errors'
import { showToast } from '@/ui/toast'
import { buildTree, findNewParent, wouldReportToItself } from './tree'

/** Lets an agent report to another one, or to none, and reads the list of agents again. A refusal is shown. */
export async function moveInTree(
  client: QueryClient,
  workspaceId: string,
  agents: readonly ListedAgentRow[],
  id: string,
  parentId: string | null,
): Promise<void> {
  if (wouldReportToItself(agents, id, parentId)) {
    showToast(getCodeText('would_report_to_itself'))
    return
  }
  try {
    await moveAgent(id, parentId)
  } catch (error) {
    showToast(getErrorText(error))
  }
  await client.invalidateQueries({ queryKey: keys.agents(workspaceId) })
}

/** Moves an agent out of its parent, or under the sibling before it, if there is one. */
export async function moveInTreeByArrow(
  client: QueryClient,
  workspaceId: string,
  agents: readonly ListedAgentRow[],
  id: string,
  to: 'left' | 'right',
): Promise<void> {
  const parent = findNewParent(buildTree(agents), id, to)
  if (parent !== undefined) await moveInTree(client, workspaceId, agents, id, parent)
}
