/** Proposals and templates of new agents, and changes of an agent. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { Language } from '@/lib/language'
import { rest, unwrap } from '../client'
import type { AgentRow, BodyOf, TeamTemplateRow } from '../types'
import { useAction } from './action'
import { keys } from './keys'

export const useAgentTemplates = (language: Language) =>
  useQuery({
    queryKey: keys.agentTemplates(language),
    queryFn: async () =>
      (await unwrap(rest.GET('/api/v1/agent-templates', { params: { query: { language } } }))).results,
    staleTime: Number.POSITIVE_INFINITY,
  })

/** Pause between two requests for the state of a proposal, in ms. */
const PROPOSAL_POLL_MS = 500

/** Has a model propose an agent for a sentence, and polls until it has ended. No agent is created. */
export async function proposeAgent(workspaceId: string, sentence: string, signal: AbortSignal) {
  const path = { workspace_id: workspaceId }
  let proposal = await unwrap(
    rest.POST('/api/v1/workspaces/{workspace_id}/agent-proposals', { params: { path }, body: { sentence }, signal }),
  )
  while (proposal.state === 'queued' || proposal.state === 'running') {
    await new Promise(resolve => setTimeout(resolve, PROPOSAL_POLL_MS))
    signal.throwIfAborted()
    proposal = await unwrap(
      rest.GET('/api/v1/workspaces/{workspace_id}/agent-proposals/{proposal_id}', {
        params: { path: { ...path, proposal_id: proposal.id } },
        signal,
      }),
    )
  }
  return proposal
}

export const useTeamTemplates = (language: Language) =>
  useQuery({
    queryKey: keys.teamTemplates(language),
    queryFn: async () =>
      (await unwrap(rest.GET('/api/v1/team-templates', { params: { query: { language } } }))).results,
    staleTime: Number.POSITIVE_INFINITY,
  })

/** Creates the agents of a template, and a chat in which the agent that leads them posts its greeting. */
export const createTeam = (workspaceId: string, template: TeamTemplateRow['key']) =>
  unwrap(
    rest.POST('/api/v1/workspaces/{workspace_id}/teams', {
      params: { path: { workspace_id: workspaceId } },
      body: { template },
    }),
  )

/** Lets an agent report to another one; null: to none. */
export const moveAgent = (agentId: string, parentId: string | null) =>
  unwrap(
    rest.PUT('/api/v1/agents/{agent_id}/parent', {
      params: { path: { agent_id: agentId } },
      body: { parent_id: parentId },
    }),
  )

export function useChangeAgent(agent: AgentRow) {
  const client = useQueryClient()
  return useAction({
    mutationFn: (change: Omit<BodyOf<'/api/v1/agents/{agent_id}', 'patch'>, 'revision'>) =>
      unwrap(
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
