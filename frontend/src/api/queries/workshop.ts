/** The draft of one agent in one chat, its lock, and the suggestions made from it. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { rest, unwrap } from '../client'
import type { BodyOf, DraftRow, LockWaiterRow, SpecContent } from '../types'
import { useAction } from './action'
import { keys } from './keys'
import { fetchAllPages } from './pages'

/** Builds the path parameters of the draft of one agent in one chat. */
const draftParams = (chatId: string, agentId: string) => ({ params: { path: { chat_id: chatId, agent_id: agentId } } })

/** With `revision` null, the write acquires the lock unless another person holds it. `caret` counts UTF-16 units. */
export interface DraftWrite extends BodyOf<'/api/v1/chats/{chat_id}/agents/{agent_id}/draft', 'put'> {
  content?: SpecContent
}

export const drafts = {
  read: (chatId: string, agentId: string) =>
    unwrap(rest.GET('/api/v1/chats/{chat_id}/agents/{agent_id}/draft', draftParams(chatId, agentId))),
  write: (chatId: string, agentId: string, body: DraftWrite) =>
    unwrap(rest.PUT('/api/v1/chats/{chat_id}/agents/{agent_id}/draft', { ...draftParams(chatId, agentId), body })),
  apply: (chatId: string, agentId: string, revision: number) =>
    unwrap(
      rest.POST('/api/v1/chats/{chat_id}/agents/{agent_id}/draft/apply', {
        ...draftParams(chatId, agentId),
        body: { revision },
      }),
    ),
  save: (
    chatId: string,
    agentId: string,
    body: BodyOf<'/api/v1/chats/{chat_id}/agents/{agent_id}/draft/save', 'post'>,
  ) =>
    unwrap(
      rest.POST('/api/v1/chats/{chat_id}/agents/{agent_id}/draft/save', { ...draftParams(chatId, agentId), body }),
    ),
  /** With `mergeProduction`, the changes of production are merged into the text; otherwise the text stays as it is. */
  rebase: (chatId: string, agentId: string, revision: number, mergeProduction: boolean) =>
    unwrap(
      rest.POST('/api/v1/chats/{chat_id}/agents/{agent_id}/draft/rebase', {
        ...draftParams(chatId, agentId),
        body: { revision, merge_production: mergeProduction },
      }),
    ),
  suggest: (
    chatId: string,
    agentId: string,
    body: BodyOf<'/api/v1/chats/{chat_id}/agents/{agent_id}/draft/suggest', 'post'>,
  ) =>
    unwrap(
      rest.POST('/api/v1/chats/{chat_id}/agents/{agent_id}/draft/suggest', { ...draftParams(chatId, agentId), body }),
    ),
  /** Makes a suggestion of a text whose draft was lost. The client generates the id, so a repeated request creates one. */
  suggestText: (
    chatId: string,
    agentId: string,
    body: BodyOf<'/api/v1/chats/{chat_id}/agents/{agent_id}/suggestions', 'post'>,
  ) =>
    unwrap(
      rest.POST('/api/v1/chats/{chat_id}/agents/{agent_id}/suggestions', { ...draftParams(chatId, agentId), body }),
    ),
  discard: (chatId: string, agentId: string, revision: number) =>
    unwrap(
      rest.POST('/api/v1/chats/{chat_id}/agents/{agent_id}/draft/discard', {
        ...draftParams(chatId, agentId),
        body: { revision },
      }),
    ),
  handOver: (
    chatId: string,
    agentId: string,
    body: BodyOf<'/api/v1/chats/{chat_id}/agents/{agent_id}/draft/hand-over', 'post'>,
  ) =>
    unwrap(
      rest.POST('/api/v1/chats/{chat_id}/agents/{agent_id}/draft/hand-over', { ...draftParams(chatId, agentId), body }),
    ),
  release: (chatId: string, agentId: string, revision: number) =>
    unwrap(
      rest.POST('/api/v1/chats/{chat_id}/agents/{agent_id}/draft/release', {
        ...draftParams(chatId, agentId),
        body: { revision },
      }),
    ),
}

/** Reads whether the draft as it is now has been applied and has answered in its chat. */
export const useDraftTrial = (draft: DraftRow | null) =>
  useQuery({
    queryKey: keys.draftTrial(draft?.id ?? ''),
    queryFn: ({ signal }) =>
      unwrap(
        rest.GET('/api/v1/chats/{chat_id}/agents/{agent_id}/draft/trial', {
          ...draftParams(draft?.chat_id ?? '', draft?.agent_id ?? ''),
          signal,
        }),
      ),
    enabled: draft !== null,
    // The server sends no frame when it changes.
    staleTime: 0,
    gcTime: 0,
  })

/** Reads which suggestions are merged into the draft, and which of them are not used in its text. */
export const useDraftSuggestions = (draft: DraftRow | null) =>
  useQuery({
    queryKey: keys.draftSuggestions(draft?.id ?? '', draft?.revision ?? 0),
    queryFn: ({ signal }) =>
      unwrap(
        rest.GET('/api/v1/chats/{chat_id}/agents/{agent_id}/draft/suggestions', {
          ...draftParams(draft?.chat_id ?? '', draft?.agent_id ?? ''),
          signal,
        }),
      ),
    enabled: draft?.provenance?.origin !== undefined,
    staleTime: 0,
    gcTime: 0,
  })

/** Reads the snapshots of the current draft, newest first. */
export const useDraftSnapshots = (chatId: string, draft: DraftRow) =>
  useQuery({
    queryKey: keys.draftSnapshots(draft.id),
    queryFn: ({ signal }) =>
      fetchAllPages(query =>
        unwrap(
          rest.GET('/api/v1/chats/{chat_id}/agents/{agent_id}/draft/snapshots', {
            params: { path: { chat_id: chatId, agent_id: draft.agent_id }, query },
            signal,
          }),
        ),
      ),
    // The server sends no frame when they change.
    staleTime: 0,
    refetchOnMount: 'always',
  })

/** Reads whether this person is on the waitlist of a draft that another person edits, and has requested it. */
export const useLockWaiter = (draft: DraftRow, holderId: string) =>
  useQuery({
    queryKey: keys.lockWaiter(draft.id, holderId),
    queryFn: ({ signal }) =>
      unwrap(
        rest.GET('/api/v1/chats/{chat_id}/agents/{agent_id}/draft/lock-waiter', {
          ...draftParams(draft.chat_id, draft.agent_id),
          signal,
        }),
      ),
    // It is valid for one lock only, and the server sends no frame when the next lock begins.
    staleTime: 0,
    gcTime: 0,
  })

function useLockWaiterAction<Input>(
  draft: DraftRow,
  holderId: string,
  action: (params: ReturnType<typeof draftParams>, input: Input) => Promise<LockWaiterRow>,
) {
  const client = useQueryClient()
  const queryKey = keys.lockWaiter(draft.id, holderId)
  return useAction({
    mutationFn: (input: Input) => action(draftParams(draft.chat_id, draft.agent_id), input),
    // A response to an earlier read, still on its way, would replace the newer result.
    onMutate: () => client.cancelQueries({ queryKey }),
    onSuccess: waiter => client.setQueryData(queryKey, waiter),
  })
}

/** Asks the lock holder for the draft, once per lock. */
export const useRequestDraft = (draft: DraftRow, holderId: string) =>
  useLockWaiterAction<void>(draft, holderId, params =>
    unwrap(rest.POST('/api/v1/chats/{chat_id}/agents/{agent_id}/draft/request', params)),
  )

/** Joins or leaves the waitlist of the draft. */
export const useSetLockWaiter = (draft: DraftRow, holderId: string) =>
  useLockWaiterAction<boolean>(draft, holderId, (params, wants_notice) =>
    unwrap(
      rest.PUT('/api/v1/chats/{chat_id}/agents/{agent_id}/draft/lock-waiter', { ...params, body: { wants_notice } }),
    ),
  )

/** Reads one saved version. It never changes. */
export const useVersion = (agentId: string, number: number, enabled = true) =>
  useQuery({
    queryKey: keys.version(agentId, number),
    queryFn: () =>
      unwrap(
        rest.GET('/api/v1/agents/{agent_id}/versions/{number}', { params: { path: { agent_id: agentId, number } } }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
    enabled,
  })

interface PendingCount {
  count: number
  /** There is more than one page. */
  isMore: boolean
}

/** Reads how many suggestions for one agent are pending. */
export const usePendingSuggestions = (workspaceId: string, agentId: string) =>
  useQuery({
    queryKey: [...keys.suggestions(workspaceId), 'pending', agentId],
    queryFn: async (): Promise<PendingCount> => {
      const page = await unwrap(
        rest.GET('/api/v1/workspaces/{workspace_id}/suggestions', {
          params: { path: { workspace_id: workspaceId }, query: { agent_id: agentId, state: 'pending' } },
        }),
      )
      return { count: page.results.length, isMore: page.next !== null }
    },
  })
