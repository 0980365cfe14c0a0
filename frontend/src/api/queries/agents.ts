import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import type { Language } from '@/lib/language'
import { isNotFound, rest, unwrap } from '../client'
import type { AgentRow, BodyOf, TeamTemplateRow } from '../types'
import { useAction } from './action'
import { keys } from './keys'
import { fetchAllPages } from './pages'

export const agentsQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: keys.agents(workspaceId),
    queryFn: ({ signal }) =>
      fetchAllPages(query =>
        unwrap(
          rest.GET('/api/v1/workspaces/{workspace_id}/agents', {
            params: { path: { workspace_id: workspaceId }, query },
            signal,
          }),
        ),
      ),
  })
export const useAgents = (workspaceId: string) => useQuery(agentsQuery(workspaceId))

/** Reads one agent with its production version. */
export const readAgent = (id: string, signal?: AbortSignal) =>
  unwrap(rest.GET('/api/v1/agents/{agent_id}', { params: { path: { agent_id: id } }, ...(signal ? { signal } : {}) }))

/** Reads one agent with its production version. Disabled while `id` is undefined. */
export const useAgent = (workspaceId: string, id: string | undefined) =>
  useQuery({
    queryKey: keys.agent(workspaceId, id ?? ''),
    queryFn: ({ signal }) => readAgent(id ?? '', signal),
    enabled: id !== undefined,
  })

/** Reads a public agent by its handle, its id or its name as a tool. Disabled while `handle` is null. Fails with `taken_down` if it was taken down. */
export const usePublicAgent = (handle: string | null, maxAge = 0) =>
  useQuery({
    queryKey: keys.publicAgent(handle ?? ''),
    queryFn: ({ signal }) =>
      unwrap(rest.GET('/api/v1/directory/{handle}', { params: { path: { handle: handle ?? '' } }, signal })),
    enabled: handle !== null,
    staleTime: maxAge,
    retry: (count, error) => !isNotFound(error) && count < 2,
  })

/** The locked drafts of a workspace. The server sends no frame when a lock expires, so they are read again then. */
export const useLockedDrafts = (workspaceId: string) =>
  useQuery({
    queryKey: keys.lockedDrafts(workspaceId),
    queryFn: ({ signal }) =>
      fetchAllPages(query =>
        unwrap(
          rest.GET('/api/v1/workspaces/{workspace_id}/locked-drafts', {
            params: { path: { workspace_id: workspaceId }, query },
            signal,
          }),
        ),
      ),
    refetchInterval: query => {
      const expiryTimes = query.state.data?.map(draft => Date.parse(draft.lock_expires_at)) ?? []
      return expiryTimes.length > 0
        ? Math.max(MIN_REFETCH_MS, Math.min(...expiryTimes) - Date.now() + MIN_REFETCH_MS)
        : false
    },
  })

const MIN_REFETCH_MS = 5_000

export const useAgentTemplates = (language: Language) =>
  useQuery({
    queryKey: keys.agentTemplates(language),
    queryFn: async () =>
      (await unwrap(rest.GET('/api/v1/agent-templates', { params: { query: { language } } }))).results,
    staleTime: Number.POSITIVE_INFINITY,
  })

/** With `open_chat`, a chat is created too, in which the agent posts its greeting. */
export const createAgent = (workspaceId: string, body: BodyOf<'/api/v1/workspaces/{workspace_id}/agents', 'post'>) =>
  unwrap(
    rest.POST('/api/v1/workspaces/{workspace_id}/agents', { params: { path: { workspace_id: workspaceId } }, body }),
  )

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
