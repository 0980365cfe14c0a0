/** The draft of one agent in one chat, and what leads from it to a suggestion. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { get, post, put } from '../client'
import type {
  DraftRow,
  DraftWishRow,
  EarlierTextRow,
  ListedSuggestionRow,
  Page,
  SpecContent,
  SpecRow,
  SuggestionRow,
} from '../types'
import { useDeed } from './deed'
import { keys } from './keys'
import { all } from './pages'

const place = (chatId: string, agentId: string) => `/chats/${chatId}/agents/${agentId}`
const draftPath = (chatId: string, agentId: string) => `${place(chatId, agentId)}/draft`

export interface DraftWrite {
  content?: SpecContent
  /** Null takes the hold: the first edit, or a hold that is free. */
  revision: number | null
  /** Characters from the start of the prompt. */
  caret?: number
}

/** A text that came too late for its draft, offered as a suggestion. Its id is made by its writer: sent twice, it is one. */
export interface LateText {
  id: string
  content: SpecContent
  base_version: number
  note: string
}

export const drafts = {
  read: (chatId: string, agentId: string) => get<DraftRow>(draftPath(chatId, agentId)),
  write: (chatId: string, agentId: string, write: DraftWrite) => put<DraftRow>(draftPath(chatId, agentId), write),
  apply: (chatId: string, agentId: string, revision: number) =>
    post<DraftRow>(`${draftPath(chatId, agentId)}/apply`, { revision }),
  save: (chatId: string, agentId: string, save: { revision: number; base_version: number; message: string }) =>
    post<SpecRow>(`${draftPath(chatId, agentId)}/save`, save),
  /** `merge` brings what production changed into the text; otherwise the text stays as it is. */
  rebase: (chatId: string, agentId: string, revision: number, merge: boolean) =>
    post<DraftRow>(`${draftPath(chatId, agentId)}/rebase`, { revision, merge }),
  suggest: (chatId: string, agentId: string, suggestion: { revision: number; note: string }) =>
    post<SuggestionRow>(`${draftPath(chatId, agentId)}/suggest`, suggestion),
  suggestText: (chatId: string, agentId: string, text: LateText) =>
    post<SuggestionRow>(`${place(chatId, agentId)}/suggestions`, text),
  discard: (chatId: string, agentId: string, revision: number) =>
    post<DraftRow>(`${draftPath(chatId, agentId)}/discard`, { revision }),
  release: (chatId: string, agentId: string, revision: number) =>
    post<DraftRow>(`${draftPath(chatId, agentId)}/release`, { revision }),
}

/** What the live draft said before another text took its place, newest first. */
export const useEarlierTexts = (chatId: string, draft: DraftRow) =>
  useQuery({
    queryKey: keys.earlierTexts(draft.id),
    queryFn: ({ signal }) => all<EarlierTextRow>(`${draftPath(chatId, draft.agent_id)}/earlier`, signal),
    // No bell tells of them.
    staleTime: 0,
    refetchOnMount: 'always',
  })

/** What this person wishes of a draft while somebody else holds it. */
export const useDraftWish = (draft: DraftRow, holderId: string) =>
  useQuery({
    queryKey: keys.wish(draft.id, holderId),
    queryFn: ({ signal }) => get<DraftWishRow>(`${draftPath(draft.chat_id, draft.agent_id)}/wish`, signal),
    // It is used up when the hold ends, and no bell tells of the next one.
    staleTime: 0,
    gcTime: 0,
  })

function useWishDeed<Input>(
  draft: DraftRow,
  holderId: string,
  deed: (path: string, input: Input) => Promise<DraftWishRow>,
) {
  const client = useQueryClient()
  const queryKey = keys.wish(draft.id, holderId)
  return useDeed({
    mutationFn: (input: Input) => deed(draftPath(draft.chat_id, draft.agent_id), input),
    // An answer that is still under way is older.
    onMutate: () => client.cancelQueries({ queryKey }),
    onSuccess: wish => client.setQueryData(queryKey, wish),
  })
}

/** Asks the holder for the draft: once in each hold. */
export const useAskForDraft = (draft: DraftRow, holderId: string) =>
  useWishDeed<void>(draft, holderId, path => post<DraftWishRow>(`${path}/ask`))

/** Whether one is told when the draft is free. */
export const useWaitForDraft = (draft: DraftRow, holderId: string) =>
  useWishDeed<boolean>(draft, holderId, (path, is_waiting) => put<DraftWishRow>(`${path}/wish`, { is_waiting }))

/** One saved version; it never changes. */
export const useVersion = (agentId: string, number: number, enabled = true) =>
  useQuery({
    queryKey: keys.version(agentId, number),
    queryFn: () => get<SpecRow>(`/agents/${agentId}/versions/${number}`),
    staleTime: Number.POSITIVE_INFINITY,
    enabled,
  })

export interface PendingCount {
  count: number
  /** There are more than one page of them. */
  isMore: boolean
}

/** How many suggestions wait for a decision on one agent. */
export const usePendingOf = (workspaceId: string, agentId: string) =>
  useQuery({
    queryKey: [...keys.suggestions(workspaceId), 'pending of', agentId],
    queryFn: async (): Promise<PendingCount> => {
      const path = `/workspaces/${workspaceId}/suggestions?agent_id=${agentId}&state=pending`
      const page = await get<Page<ListedSuggestionRow>>(path)
      return { count: page.results.length, isMore: page.next !== null }
    },
  })

/** A suggestion as its line in a chat needs it. */
export const useSuggestionOfLine = (workspaceId: string, id: string) =>
  useQuery({
    queryKey: [...keys.suggestions(workspaceId), 'of line', id],
    queryFn: async () => (await get<{ suggestion: SuggestionRow }>(`/suggestions/${id}`)).suggestion,
  })

/** Asks the model once more to say what a suggestion changes. */
export const useSummarize = () =>
  useDeed({ mutationFn: (id: string) => post<SuggestionRow>(`/suggestions/${id}/summarize`) })
