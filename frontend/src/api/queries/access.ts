/** How programs outside reach an agent: whether one answers for it, its tokens, webhooks and deliveries. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { rest, unwrap } from '../client'
import type { BodyOf } from '../types'
import { useAction } from './action'
import { keys } from './keys'
import { fetchAllPages } from './pages'

const agentAt = (agentId: string) => ({ path: { agent_id: agentId } })
const webhookAt = (agentId: string, id: string) => ({ path: { agent_id: agentId, webhook_id: id } })

export const useAccess = (agentId: string) =>
  useQuery({
    queryKey: keys.access(agentId),
    queryFn: async ({ signal }) => {
      const params = agentAt(agentId)
      const [access, tokens, webhooks] = await Promise.all([
        unwrap(rest.GET('/api/v1/agents/{agent_id}/access', { params, signal })),
        fetchAllPages(query =>
          unwrap(rest.GET('/api/v1/agents/{agent_id}/tokens', { params: { ...params, query }, signal })),
        ),
        fetchAllPages(query =>
          unwrap(rest.GET('/api/v1/agents/{agent_id}/webhooks', { params: { ...params, query }, signal })),
        ),
      ])
      return { ...access, tokens, webhooks }
    },
  })

/** How often the list of deliveries is read again while it is open, in ms. */
const DELIVERIES_INTERVAL_MS = 5_000

export const useDeliveries = (agentId: string, webhookId: string) =>
  useQuery({
    queryKey: [...keys.access(agentId), 'deliveries', webhookId],
    queryFn: ({ signal }) =>
      unwrap(
        rest.GET('/api/v1/agents/{agent_id}/webhooks/{webhook_id}/deliveries', {
          params: { ...webhookAt(agentId, webhookId), query: { limit: 10 } },
          signal,
        }),
      ),
    refetchInterval: DELIVERIES_INTERVAL_MS,
  })

/** Runs a change of the access to an agent, and reads the access again. */
export function useAccessChange<Result>(agentId: string) {
  const client = useQueryClient()
  return useAction({
    mutationFn: (change: () => Promise<Result>) => change(),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.access(agentId) }),
  })
}

/** Sets whether an outside program answers for the agent, instead of a model. */
export const setRunsOutside = (agentId: string, runs_outside: boolean) =>
  unwrap(rest.PATCH('/api/v1/agents/{agent_id}/access', { params: agentAt(agentId), body: { runs_outside } }))

export const createAgentToken = (agentId: string, body: BodyOf<'/api/v1/agents/{agent_id}/tokens', 'post'>) =>
  unwrap(rest.POST('/api/v1/agents/{agent_id}/tokens', { params: agentAt(agentId), body }))

export const revokeAgentToken = (agentId: string, tokenId: string) =>
  rest.DELETE('/api/v1/agents/{agent_id}/tokens/{token_id}', {
    params: { path: { agent_id: agentId, token_id: tokenId } },
  })

export const createWebhook = (agentId: string, url: string) =>
  unwrap(rest.POST('/api/v1/agents/{agent_id}/webhooks', { params: agentAt(agentId), body: { url } }))

export const setWebhookEnabled = (agentId: string, id: string, is_enabled: boolean) =>
  unwrap(
    rest.PATCH('/api/v1/agents/{agent_id}/webhooks/{webhook_id}', {
      params: webhookAt(agentId, id),
      body: { is_enabled },
    }),
  )

export const deleteWebhook = (agentId: string, id: string) =>
  rest.DELETE('/api/v1/agents/{agent_id}/webhooks/{webhook_id}', { params: webhookAt(agentId, id) })

export const rotateWebhookSecret = (agentId: string, id: string) =>
  unwrap(rest.POST('/api/v1/agents/{agent_id}/webhooks/{webhook_id}/secret', { params: webhookAt(agentId, id) }))

export const sendWebhookTest = (agentId: string, id: string) =>
  unwrap(rest.POST('/api/v1/agents/{agent_id}/webhooks/{webhook_id}/deliveries', { params: webhookAt(agentId, id) }))

export const sendDeliveryAgain = (agentId: string, webhookId: string, id: string) =>
  unwrap(
    rest.POST('/api/v1/agents/{agent_id}/webhooks/{webhook_id}/deliveries/{delivery_id}', {
      params: { path: { agent_id: agentId, webhook_id: webhookId, delivery_id: id } },
    }),
  )
