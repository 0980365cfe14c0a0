import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { del, get, patch, post } from '../client'
import type { AgentRow, AgentTemplate, NewAgentRow, Page, ToolRow } from '../types'
import { useDeed } from './deed'
import { keys } from './keys'
import { all } from './pages'

export const agentsQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: keys.agents(workspaceId),
    queryFn: ({ signal }) => all<AgentRow>(`/workspaces/${workspaceId}/agents`, signal),
  })
export const useAgents = (workspaceId: string) => useQuery(agentsQuery(workspaceId))

export const useAgent = (id: string) =>
  useQuery({
    queryKey: keys.agent(id),
    queryFn: () => get<AgentRow>(`/agents/${id}`),
    // No bell tells of a single agent.
    staleTime: 0,
  })

export const useTemplates = (language: string) =>
  useQuery({
    queryKey: keys.templates(language),
    queryFn: async () => (await get<Page<AgentTemplate>>(`/agent-templates?language=${language}`)).results,
    staleTime: Number.POSITIVE_INFINITY,
  })

export const useTools = () =>
  useQuery({
    queryKey: keys.tools,
    queryFn: async () => (await get<Page<ToolRow>>('/tools')).results,
    staleTime: 300_000,
  })

export interface NewAgent {
  name: string
  description?: string
  template?: string
  prompt?: string
  /** The agent says hello in a chat of its own. */
  open_chat?: boolean
}

export const createAgent = (workspaceId: string, agent: NewAgent) =>
  post<NewAgentRow>(`/workspaces/${workspaceId}/agents`, agent)

export function useChangeAgent(agent: AgentRow) {
  const client = useQueryClient()
  return useDeed({
    mutationFn: (change: { name?: string; description?: string }) =>
      patch<AgentRow>(`/agents/${agent.actor.id}`, { ...change, revision: agent.revision }),
    onSuccess: () => client.invalidateQueries(),
  })
}

export const deleteAgent = (id: string) => del(`/agents/${id}`)
