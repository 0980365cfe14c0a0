/** The directory of public agents, and the publication of an agent. */
import { keepPreviousData, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { rest, unwrap } from '../client'
import type { BodyOf, ListingCategory } from '../types'
import { useAction } from './action'
import { keys } from './keys'
import { buildPageQuery } from './pages'

export interface DirectoryFilter {
  query: string
  category: ListingCategory | null
  /** A language tag; null for all. */
  language: string | null
  sort: 'use' | 'new' | 'name'
  scope: 'all' | 'used' | 'yours'
}

const PAGE_SIZE = 24

export const useDirectory = (workspaceId: string, { query, category, language, sort, scope }: DirectoryFilter) =>
  useInfiniteQuery({
    queryKey: [...keys.directory, 'list', scope === 'used' ? workspaceId : '', query, category, language, sort, scope],
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        rest.GET('/api/v1/directory', {
          params: {
            query: {
              limit: PAGE_SIZE,
              sort,
              ...(query ? { query } : {}),
              ...(category ? { category } : {}),
              ...(language ? { language } : {}),
              ...(scope === 'yours' ? { yours: true } : {}),
              ...(scope === 'used' ? { used_in: workspaceId } : {}),
              ...buildPageQuery(pageParam),
            },
          },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: page => page.next,
    placeholderData: keepPreviousData,
    // The server sends no frame when agents of other workspaces are published.
    staleTime: 0,
  })

/** How many public agents a picker shows. */
const MAX_PICKED = 8

/** Reads the first public agents that match, those in the reader's chats of the workspace before the others. */
export const usePublicAgents = (workspaceId: string, text: string) =>
  useQuery({
    queryKey: [...keys.directory, 'picker', workspaceId, text],
    queryFn: async ({ signal }) => {
      const read = (filter: { used_in?: string }) =>
        unwrap(
          rest.GET('/api/v1/directory', {
            params: { query: { limit: MAX_PICKED, ...(text ? { query: text } : {}), ...filter } },
            signal,
          }),
        )
      const [used, all] = await Promise.all([read({ used_in: workspaceId }), read({})])
      const usedIds = new Set(used.results.map(row => row.actor.id))
      const rows = [...used.results, ...all.results.filter(row => !usedIds.has(row.actor.id))]
      return { rows: rows.slice(0, MAX_PICKED), hasMore: rows.length > MAX_PICKED || all.next !== null }
    },
    placeholderData: keepPreviousData,
  })

/** Creates a chat with a public agent in a workspace of the reader. */
export const tryPublicAgent = (id: string, workspaceId: string) =>
  unwrap(
    rest.POST('/api/v1/directory/{handle}/try', {
      params: { path: { handle: id } },
      body: { workspace_id: workspaceId },
    }),
  )

export const useReportPublicAgent = (id: string) =>
  useAction({
    mutationFn: (body: BodyOf<'/api/v1/directory/{handle}/reports', 'post'>) =>
      unwrap(rest.POST('/api/v1/directory/{handle}/reports', { params: { path: { handle: id } }, body })),
  })

/** Counts whom a takedown affects. The counts change at any time, so they are read again each time. */
export const useTakedownPreview = (id: string) =>
  useQuery({
    queryKey: [...keys.publicAgent(id), 'takedown'],
    queryFn: ({ signal }) =>
      unwrap(rest.GET('/api/v1/directory/{handle}/takedown', { params: { path: { handle: id } }, signal })),
    staleTime: 0,
    gcTime: 0,
  })

export function useTakeDown(id: string) {
  const client = useQueryClient()
  return useAction({
    mutationFn: (reason: string) =>
      unwrap(rest.POST('/api/v1/directory/{handle}/takedown', { params: { path: { handle: id } }, body: { reason } })),
    // A frame tells the publisher to read its agents again, with their publications.
    onSuccess: () => client.invalidateQueries({ queryKey: keys.directory }),
  })
}

// --- publications -------------------------------------------------------------------------------------------------

/** What is checked before an agent is published: a version, a name and a handle; those of the agent by default. */
interface PublicationCheck {
  version: number | null
  name: string
  handle: string
}

/** Reads the publication of an agent, and what would go along with the next one. */
export const usePublication = (workspaceId: string, agentId: string, check: PublicationCheck | null = null) =>
  useQuery({
    queryKey: [...keys.publication(workspaceId, agentId), check],
    queryFn: ({ signal }) =>
      unwrap(
        rest.GET('/api/v1/agents/{agent_id}/publication', {
          params: {
            path: { agent_id: agentId },
            query: {
              ...(check?.version ? { version: check.version } : {}),
              ...(check?.name ? { name: check.name } : {}),
              ...(check?.handle ? { handle: check.handle } : {}),
            },
          },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
    staleTime: 0,
  })

/** Finds what looks like a key or a password in the texts of a listing. `texts`: the body as JSON. */
export const useListingCheck = (agentId: string, texts: string) =>
  useQuery({
    queryKey: [...keys.directory, 'listing check', agentId, texts],
    queryFn: async ({ signal }) =>
      (
        await unwrap(
          rest.POST('/api/v1/agents/{agent_id}/publication/listing-check', {
            params: { path: { agent_id: agentId } },
            body: JSON.parse(texts) as BodyOf<'/api/v1/agents/{agent_id}/publication/listing-check', 'post'>,
            signal,
          }),
        )
      ).results,
    placeholderData: keepPreviousData,
  })

type PublishInput = BodyOf<'/api/v1/agents/{agent_id}/publish', 'post'>
type UpdatePublicationInput = BodyOf<'/api/v1/agents/{agent_id}/publication', 'put'>

/** Publishes an agent as a new public agent. */
export const publishAgent = (agentId: string, body: PublishInput) =>
  unwrap(rest.POST('/api/v1/agents/{agent_id}/publish', { params: { path: { agent_id: agentId } }, body }))

/** Updates the public copy of an agent: its listing and, if the content has changed, its version. */
export const updatePublication = (agentId: string, body: UpdatePublicationInput) =>
  unwrap(rest.PUT('/api/v1/agents/{agent_id}/publication', { params: { path: { agent_id: agentId } }, body }))

/** Reads the use of the public copy of an agent by day, the newest first. */
export const usePublicUse = (workspaceId: string, agentId: string) =>
  useQuery({
    queryKey: [...keys.publication(workspaceId, agentId), 'use'],
    queryFn: async ({ signal }) =>
      (
        await unwrap(
          rest.GET('/api/v1/agents/{agent_id}/publication/use', { params: { path: { agent_id: agentId } }, signal }),
        )
      ).results,
    staleTime: 0,
  })
