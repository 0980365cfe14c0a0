import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import type { Language } from '@/lib/language'
import { answerOf, rest } from '../client'
import type { AgentRow, BodyOf } from '../types'
import { useAction } from './action'
import { keys } from './keys'
import { fetchAllPages } from './pages'

export const agentsQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: keys.agents(workspaceId),
    queryFn: ({ signal }) =>
      fetchAllPages(query =>
        answerOf(
          rest.GET('/api/v1/workspaces/{workspace_id}/agents', {
            params: { path: { workspace_id: workspaceId }, query },
            signal,
          }),
        ),
      ),
  })
export const useAgents = (workspaceId: string) => useQuery(agentsQuery(workspaceId))

/** One agent with its production version; none without an id. */
export const useAgent = (workspaceId: string, id: string | undefined) =>
  useQuery({
    queryKey: keys.agent(workspaceId, id ?? ''),
    queryFn: ({ signal }) =>
      answerOf(rest.GET('/api/v1/agents/{agent_id}', { params: { path: { agent_id: id ?? '' } }, signal })),
    enabled: id !== undefined,
  })

export const useTemplates = (language: Language) =>
  useQuery({
    queryKey: keys.templates(language),
    queryFn: async () =>
      (await answerOf(rest.GET('/api/v1/agent-templates', { params: { query: { language } } }))).results,
    staleTime: Number.POSITIVE_INFINITY,
  })

export const useTools = () =>
  useQuery({
    queryKey: keys.tools,
    queryFn: async () => (await answerOf(rest.GET('/api/v1/tools'))).results,
    staleTime: 300_000,
  })

/** `open_chat`: the agent says hello in a chat of its own. */
export const createAgent = (workspaceId: string, body: BodyOf<'/api/v1/workspaces/{workspace_id}/agents', 'post'>) =>
  answerOf(
    rest.POST('/api/v1/workspaces/{workspace_id}/agents', { params: { path: { workspace_id: workspaceId } }, body }),
  )

export function useChangeAgent(agent: AgentRow) {
  const client = useQueryClient()
  return useAction({
    mutationFn: (change: Omit<BodyOf<'/api/v1/agents/{agent_id}', 'patch'>, 'revision'>) =>
      answerOf(
        rest.PATCH('/api/v1/agents/{agent_id}', {
          params: { path: { agent_id: agent.actor.id } },
          body: { ...change, revision: agent.revision },
        }),
      ),
    onSuccess: () => client.invalidateQueries(),
  })
}

export const deleteAgent = (id: string) =>
  rest.DELETE('/api/v1/agents/{agent_id}', { params: { path: { agent_id: id } } })
