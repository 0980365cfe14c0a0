/** The draft of one agent in one chat, and what leads from it to a suggestion. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { answerOf, rest } from '../client'
import type { BodyOf, DraftRow, LockWaiterRow, SpecContent } from '../types'
import { useAction } from './action'
import { keys } from './keys'
import { fetchAllPages } from './pages'

/** The parameters of an address below the draft of one agent in one chat. */
const draftParams = (chatId: string, agentId: string) => ({ params: { path: { chat_id: chatId, agent_id: agentId } } })

/** `revision` null acquires the edit lock, which must be free. `caret`: characters from the start of the prompt. */
export interface DraftWrite extends BodyOf<'/api/v1/chats/{chat_id}/agents/{agent_id}/draft', 'put'> {
  content?: SpecContent
}

/** The locked drafts of a workspace. The server sends no frame when a lock expires, so they are read again then. */
export const useLockedDrafts = (workspaceId: string) =>
  useQuery({
    queryKey: keys.lockedDrafts(workspaceId),
    queryFn: ({ signal }) =>
      fetchAllPages(query =>
        answerOf(
          rest.GET('/api/v1/workspaces/{workspace_id}/locked-drafts', {
            params: { path: { workspace_id: workspaceId }, query },
            signal,
          }),
        ),
      ),
    refetchInterval: query => {
      const ends = query.state.data?.map(draft => Date.parse(draft.lock_expires_at)) ?? []
      return ends.length > 0 ? Math.max(MIN_REFETCH_MS, Math.min(...ends) - Date.now() + MIN_REFETCH_MS) : false
    },
  })

const MIN_REFETCH_MS = 5_000

export const drafts = {
  read: (chatId: string, agentId: string) =>
    answerOf(rest.GET('/api/v1/chats/{chat_id}/agents/{agent_id}/draft', draftParams(chatId, agentId))),
  write: (chatId: string, agentId: string, body: DraftWrite) =>
    answerOf(rest.PUT('/api/v1/chats/{chat_id}/agents/{agent_id}/draft', { ...draftParams(chatId, agentId), body })),
  apply: (chatId: string, agentId: string, revision: number) =>
    answerOf(
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
    answerOf(
      rest.POST('/api/v1/chats/{chat_id}/agents/{agent_id}/draft/save', { ...draftParams(chatId, agentId), body }),
    ),
  /** `merge` brings what production changed into the text; otherwise the text stays as it is. */
  rebase: (chatId: string, agentId: string, revision: number, merge: boolean) =>
    answerOf(
      rest.POST('/api/v1/chats/{chat_id}/agents/{agent_id}/draft/rebase', {
        ...draftParams(chatId, agentId),
        body: { revision, merge },
      }),
    ),
  suggest: (
    chatId: string,
    agentId: string,
    body: BodyOf<'/api/v1/chats/{chat_id}/agents/{agent_id}/draft/suggest', 'post'>,
  ) =>
    answerOf(
      rest.POST('/api/v1/chats/{chat_id}/agents/{agent_id}/draft/suggest', { ...draftParams(chatId, agentId), body }),
    ),
  /** Offers a text that came too late for its draft as a suggestion. Its id is made by its writer: sent twice, it is one. */
  suggestText: (
    chatId: string,
    agentId: string,
    body: BodyOf<'/api/v1/chats/{chat_id}/agents/{agent_id}/suggestions', 'post'>,
  ) =>
    answerOf(
      rest.POST('/api/v1/chats/{chat_id}/agents/{agent_id}/suggestions', { ...draftParams(chatId, agentId), body }),
    ),
  discard: (chatId: string, agentId: string, revision: number) =>
    answerOf(
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
    answerOf(
      rest.POST('/api/v1/chats/{chat_id}/agents/{agent_id}/draft/hand-over', { ...draftParams(chatId, agentId), body }),
    ),
  release: (chatId: string, agentId: string, revision: number) =>
    answerOf(
      rest.POST('/api/v1/chats/{chat_id}/agents/{agent_id}/draft/release', {
        ...draftParams(chatId, agentId),
        body: { revision },
      }),
    ),
}

/** Whether what is written has been applied and tried in its chat. */
export const useDraftTrial = (draft: DraftRow | null) =>
  useQuery({
    queryKey: keys.draftTrial(draft?.id ?? ''),
    queryFn: ({ signal }) =>
      answerOf(
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

/** The earlier texts of the live draft, newest first. */
export const useDraftSnapshots = (chatId: string, draft: DraftRow) =>
  useQuery({
    queryKey: keys.draftSnapshots(draft.id),
    queryFn: ({ signal }) =>
      fetchAllPages(query =>
        answerOf(
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

/** Whether this person waits for a draft that another person edits, and has requested it. */
export const useLockWaiter = (draft: DraftRow, holderId: string) =>
  useQuery({
    queryKey: keys.lockWaiter(draft.id, holderId),
    queryFn: ({ signal }) =>
      answerOf(
        rest.GET('/api/v1/chats/{chat_id}/agents/{agent_id}/draft/waiter', {
          ...draftParams(draft.chat_id, draft.agent_id),
          signal,
        }),
      ),
    // It ends with the lock, and the server sends no frame for the next one.
    staleTime: 0,
    gcTime: 0,
  })

function useWaiterAction<Input>(
  draft: DraftRow,
  holderId: string,
  action: (address: ReturnType<typeof draftParams>, input: Input) => Promise<LockWaiterRow>,
) {
  const client = useQueryClient()
  const queryKey = keys.lockWaiter(draft.id, holderId)
  return useAction({
    mutationFn: (input: Input) => action(draftParams(draft.chat_id, draft.agent_id), input),
    // An answer that is still under way is older.
    onMutate: () => client.cancelQueries({ queryKey }),
    onSuccess: waiter => client.setQueryData(queryKey, waiter),
  })
}

/** Ask the lock's holder for the draft: once per lock. */
export const useRequestDraft = (draft: DraftRow, holderId: string) =>
  useWaiterAction<void>(draft, holderId, address =>
    answerOf(rest.POST('/api/v1/chats/{chat_id}/agents/{agent_id}/draft/request', address)),
  )

/** Join or leave the waitlist for the draft. */
export const useWaitForDraft = (draft: DraftRow, holderId: string) =>
  useWaiterAction<boolean>(draft, holderId, (address, is_waiting) =>
    answerOf(rest.PUT('/api/v1/chats/{chat_id}/agents/{agent_id}/draft/waiter', { ...address, body: { is_waiting } })),
  )

/** One saved version; it never changes. */
export const useVersion = (agentId: string, number: number, enabled = true) =>
  useQuery({
    queryKey: keys.version(agentId, number),
    queryFn: () =>
      answerOf(
        rest.GET('/api/v1/agents/{agent_id}/versions/{number}', { params: { path: { agent_id: agentId, number } } }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
    enabled,
  })

interface PendingCount {
  count: number
  /** There are more than one page of them. */
  isMore: boolean
}

/** How many suggestions wait for a decision on one agent. */
export const usePendingSuggestions = (workspaceId: string, agentId: string) =>
  useQuery({
    queryKey: [...keys.suggestions(workspaceId), 'pending of', agentId],
    queryFn: async (): Promise<PendingCount> => {
      const page = await answerOf(
        rest.GET('/api/v1/workspaces/{workspace_id}/suggestions', {
          params: { path: { workspace_id: workspaceId }, query: { agent_id: agentId, state: 'pending' } },
        }),
      )
      return { count: page.results.length, isMore: page.next !== null }
    },
  })

/** A suggestion as its line in a chat needs it. */
export const useSuggestionRow = (workspaceId: string, id: string) =>
  useQuery({
    queryKey: [...keys.suggestions(workspaceId), 'of line', id],
    queryFn: async () =>
      (await answerOf(rest.GET('/api/v1/suggestions/{suggestion_id}', { params: { path: { suggestion_id: id } } })))
        .suggestion,
  })

/** Asks the model once more to say what a suggestion changes. */
export const useSummarize = () =>
  useAction({
    mutationFn: (id: string) =>
      answerOf(rest.POST('/api/v1/suggestions/{suggestion_id}/summarize', { params: { path: { suggestion_id: id } } })),
  })
