import { useQueryClient } from '@tanstack/react-query'
import { type DragEvent, type KeyboardEvent, useState } from 'react'
import type { ListedAgentRow } from '@/api'

/** The code that moves an agent in the tree, which is loaded at the first move. */
const loadMoveInTree = () => import('./moveInTree')

const TYPE = 'application/x-atelier-agent'
/** The id of the place at the end of the list, for an agent that is to report to nobody. */
const TOP = ''

/**
 * Returns the handlers by which editors move an agent in the list: by dragging it to another one, or by Alt and the
 * arrow keys. `topProps` are the handlers of the place where an agent is dropped that is to report to nobody. They are
 * null unless an agent that reports to another one is dragged.
 */
export function useAgentDrag(workspaceId: string, agents: readonly ListedAgentRow[]) {
  const client = useQueryClient()
  const [dragged, setDragged] = useState<string | null>(null)
  const [target, setTarget] = useState<string | null>(null)
  const leave = () => setTarget(null)
  const end = () => {
    leave()
    setDragged(null)
  }
  const drop = async (event: DragEvent, id: string) => {
    const dragged = event.dataTransfer.getData(TYPE)
    if (!dragged) return
    event.preventDefault()
    end()
    const { moveInTree } = await loadMoveInTree()
    if (dragged !== id) await moveInTree(client, workspaceId, agents, dragged, id === TOP ? null : id)
  }
  const moveByKey = async (event: KeyboardEvent, id: string) => {
    if (!event.altKey || (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight')) return
    event.preventDefault()
    const to = event.key === 'ArrowLeft' ? 'left' : 'right'
    const { moveInTreeByArrow } = await loadMoveInTree()
    await moveInTreeByArrow(client, workspaceId, agents, id, to)
  }
  const getTargetProps = (id: string) => ({
    'data-target': (target === id && dragged !== id) || undefined,
    onDragOver: (event: DragEvent) => {
      if (!event.dataTransfer.types.includes(TYPE)) return
      event.preventDefault()
      setTarget(id)
    },
    onDragLeave: leave,
    onDrop: (event: DragEvent) => void drop(event, id),
  })
  const getDragProps = ({ actor, verbs }: Pick<ListedAgentRow, 'actor' | 'verbs'>) => ({
    ...getTargetProps(actor.id),
    draggable: verbs.includes('update_agent_profile'),
    onDragStart: (event: DragEvent) => {
      event.dataTransfer.setData(TYPE, actor.id)
      setDragged(actor.id)
    },
    onDragEnd: end,
    onKeyDown: (event: KeyboardEvent) => {
      if (verbs.includes('update_agent_profile')) void moveByKey(event, actor.id)
    },
  })
  const reportsToAnother = agents.some(row => row.actor.id === dragged && row.parent_id)
  return { getDragProps, topProps: reportsToAnother ? getTargetProps(TOP) : null }
}
