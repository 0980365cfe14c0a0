import { useQueryClient } from '@tanstack/react-query'
import { type DragEvent, type KeyboardEvent, useState } from 'react'
import type { AgentSummaryRow } from '@/api'
import { loadMoveInTree } from '@/features/agents'

const TYPE = 'application/x-atelier-agent'

/** Returns the handlers by which editors move an agent in the list: by dragging it to another one, or by Alt and the arrow keys. */
export function useAgentDrag(workspaceId: string, agents: readonly AgentSummaryRow[]) {
  const client = useQueryClient()
  const [target, setTarget] = useState<string | null>(null)
  const leave = () => setTarget(null)
  const drop = async (event: DragEvent, id: string) => {
    const dragged = event.dataTransfer.getData(TYPE)
    if (!dragged) return
    event.preventDefault()
    leave()
    const { moveInTree } = await loadMoveInTree()
    if (dragged !== id) await moveInTree(client, workspaceId, agents, dragged, id)
  }
  const moveByKey = async (event: KeyboardEvent, id: string) => {
    if (!event.altKey || (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight')) return
    event.preventDefault()
    const to = event.key === 'ArrowLeft' ? 'left' : 'right'
    const { moveInTreeByKey } = await loadMoveInTree()
    await moveInTreeByKey(client, workspaceId, agents, id, to)
  }
  return ({ actor, verbs }: AgentSummaryRow) => ({
    'data-target': target === actor.id || undefined,
    draggable: verbs.includes('update_agent_profile'),
    onDragStart: (event: DragEvent) => event.dataTransfer.setData(TYPE, actor.id),
    onDragOver: (event: DragEvent) => {
      if (!event.dataTransfer.types.includes(TYPE)) return
      event.preventDefault()
      setTarget(actor.id)
    },
    onDragLeave: leave,
    onDragEnd: leave,
    onDrop: (event: DragEvent) => void drop(event, actor.id),
    onKeyDown: (event: KeyboardEvent) => {
      if (verbs.includes('update_agent_profile')) void moveByKey(event, actor.id)
    },
  })
}
