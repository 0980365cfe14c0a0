/** Applies the states of agents that the server sends (working, waiting for people, or idle) to the cached list of agents. */
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { keys, type ListedAgentRow, type ServerFrame } from '@/api'
import { onFrame, workspaceTopic } from '@/realtime'

type AgentStates = Extract<ServerFrame, { type: 'agent_states' }>

function withStates(agents: readonly ListedAgentRow[], frame: AgentStates): ListedAgentRow[] {
  const states = new Map<string, ListedAgentRow['state']>([
    ...frame.idle.map(id => [id, 'idle'] as const),
    ...frame.waiting.map(id => [id, 'waiting'] as const),
    ...frame.working.map(id => [id, 'working'] as const),
  ])
  return agents.map(agent => {
    const state = states.get(agent.actor.id)
    return state && state !== agent.state ? { ...agent, state } : agent
  })
}

export function applyAgentStates(client: QueryClient, workspaceId: string, frame: ServerFrame): void {
  if (frame.type !== 'agent_states' || frame.topic !== workspaceTopic(workspaceId)) return
  const queryKey = keys.agents(workspaceId)
  // The response of a pending request may be older than the frame.
  if (client.isFetching({ queryKey, exact: true }) > 0) void client.invalidateQueries({ queryKey, exact: true })
  client.setQueryData<ListedAgentRow[]>(queryKey, agents => agents && withStates(agents, frame))
}

export function useAgentStates(workspaceId: string): void {
  const client = useQueryClient()
  useEffect(() => onFrame(frame => applyAgentStates(client, workspaceId, frame)), [client, workspaceId])
}
