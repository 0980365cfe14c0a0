import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { rest, unwrap } from '../client'
import type { AnyRow, BodyOf, ChatActivity, ListedChatRow, MessageRow } from '../types'
import { keys } from './keys'
import { fetchAllPages } from './pages'

export const chatsQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: keys.chats(workspaceId),
    queryFn: ({ signal }) =>
      fetchAllPages(query =>
        unwrap(
          rest.GET('/api/v1/workspaces/{workspace_id}/chats', {
            params: { path: { workspace_id: workspaceId }, query },
            signal,
          }),
        ),
      ),
  })
export const useChats = (workspaceId: string) => useQuery(chatsQuery(workspaceId))

/** The chats between two agents. Only editors may read them; for other members no request is sent. */
export const useChatsBetweenAgents = (workspaceId: string, isEditor: boolean) =>
  useQuery({
    queryKey: keys.chatsBetweenAgents(workspaceId),
    queryFn: ({ signal }) =>
      fetchAllPages(query =>
        unwrap(
          rest.GET('/api/v1/workspaces/{workspace_id}/chats-between-agents', {
            params: { path: { workspace_id: workspaceId }, query },
            signal,
          }),
        ),
      ),
    enabled: isEditor,
  })

/**
 * Returns the list of chats after a message or a read cursor changed one of them, the most recently active first.
 * Returns null when that chat is not in the list.
 */
export function applyChatActivity(
  chats: readonly ListedChatRow[],
  { chat_id, unread, mentioned, last_read_seq, last_message }: ChatActivity,
): ListedChatRow[] | null {
  if (!chats.some(row => row.chat.id === chat_id)) return null
  return chats
    .map(row => (row.chat.id === chat_id ? { ...row, unread, mentioned, last_read_seq, last_message } : row))
    .sort((a, b) => Date.parse(getLastActivity(b)) - Date.parse(getLastActivity(a)))
}

/**
 * Returns the list of chats after rows of an open chat changed, because the server sends no activity of it when its
 * last message is edited or deleted. Returns null if none of the rows is a last message.
 */
export function applyChangedRows(chats: readonly ListedChatRow[], rows: readonly AnyRow[]): ListedChatRow[] | null {
  const findNewer = ({ last_message: last }: ListedChatRow) =>
    last &&
    rows.find((row): row is MessageRow => row.kind === 'message' && row.id === last.id && row.version > last.version)
  if (!chats.some(findNewer)) return null
  return chats.map(row => {
    const newer = findNewer(row)
    return newer ? { ...row, last_message: newer } : row
  })
}

const getLastActivity = ({ chat, last_message }: ListedChatRow) => last_message?.created_at ?? chat.created_at

const REFETCH_QUEUED_RUN_MS = 2_000

/** A run that waits for its turn, read again and again: no frame says that others have started before it. */
export const useQueuedRun = (runId: string, { enabled }: { enabled: boolean }) =>
  useQuery({
    queryKey: keys.run(runId),
    queryFn: ({ signal }) => unwrap(rest.GET('/api/v1/runs/{run_id}', { params: { path: { run_id: runId } }, signal })),
    refetchInterval: REFETCH_QUEUED_RUN_MS,
    enabled,
  })

export const createChat = (workspaceId: string, body: BodyOf<'/api/v1/workspaces/{workspace_id}/chats', 'post'>) =>
  unwrap(
    rest.POST('/api/v1/workspaces/{workspace_id}/chats', { params: { path: { workspace_id: workspaceId } }, body }),
  )

/** Opens the direct chat with a person or an agent, and returns its row in the list of chats. */
export const openDirectChat = (workspaceId: string, actorId: string) =>
  unwrap(
    rest.POST('/api/v1/workspaces/{workspace_id}/direct-chats', {
      params: { path: { workspace_id: workspaceId } },
      body: { actor_id: actorId },
    }),
  )
export const removeFromChat = (id: string, actorId: string) =>
  rest.DELETE('/api/v1/chats/{chat_id}/participants/{actor_id}', {
    params: { path: { chat_id: id, actor_id: actorId } },
  })
// --- messages ---------------------------------------------------------------------------------------------------

export type NewMessage = BodyOf<'/api/v1/chats/{chat_id}/messages', 'post'>

export const postMessage = (chatId: string, body: NewMessage) =>
  unwrap(rest.POST('/api/v1/chats/{chat_id}/messages', { params: { path: { chat_id: chatId } }, body }))

const readMessages = (chatId: string, query: { before?: number; after?: number; around?: string; limit: number }) =>
  unwrap(rest.GET('/api/v1/chats/{chat_id}/messages', { params: { path: { chat_id: chatId }, query } }))

export const readOlderMessages = (chatId: string, before: number, limit = 50) => readMessages(chatId, { before, limit })
export const readNewerMessages = (chatId: string, after: number, limit = 50) => readMessages(chatId, { after, limit })
/** Reads the messages around one. Fails with `not_found` when there is no such message. */
export const readMessagesAround = (chatId: string, messageId: string, limit = 50) =>
  readMessages(chatId, { around: messageId, limit })

export const previewWakes = async (chatId: string, body: BodyOf<'/api/v1/chats/{chat_id}/wakes', 'post'>) =>
  (await unwrap(rest.POST('/api/v1/chats/{chat_id}/wakes', { params: { path: { chat_id: chatId } }, body }))).results
/** Wakes an agent by hand, so that it looks at the chat again. `id`: the id that the system message about it gets. */
export const wakeAgent = (chatId: string, agentId: string, id: string) =>
  unwrap(
    rest.POST('/api/v1/chats/{chat_id}/agents/{agent_id}/wake', {
      params: { path: { chat_id: chatId, agent_id: agentId } },
      body: { id },
    }),
  )

/** Moves the read cursor of this person. The request outlives a page that is closed. */
export const markRead = (chatId: string, seq: number) =>
  unwrap(
    rest.PUT('/api/v1/chats/{chat_id}/read', { params: { path: { chat_id: chatId } }, body: { seq }, keepalive: true }),
  )

export const pinMessage = (chatId: string, messageId: string) =>
  unwrap(
    rest.PUT('/api/v1/chats/{chat_id}/messages/{message_id}/pin', {
      params: { path: { chat_id: chatId, message_id: messageId } },
    }),
  )
export const unpinMessage = (chatId: string, messageId: string) =>
  unwrap(
    rest.DELETE('/api/v1/chats/{chat_id}/messages/{message_id}/pin', {
      params: { path: { chat_id: chatId, message_id: messageId } },
    }),
  )
export const addReaction = (chatId: string, messageId: string, emoji: string) =>
  unwrap(
    rest.PUT('/api/v1/chats/{chat_id}/messages/{message_id}/reactions/{emoji}', {
      params: { path: { chat_id: chatId, message_id: messageId, emoji } },
    }),
  )
export const removeReaction = (chatId: string, messageId: string, emoji: string) =>
  unwrap(
    rest.DELETE('/api/v1/chats/{chat_id}/messages/{message_id}/reactions/{emoji}', {
      params: { path: { chat_id: chatId, message_id: messageId, emoji } },
    }),
  )
/**
 * The pinned messages of a chat, the last pinned first, with shortened texts. `version`: the version of the chat's row,
 * which rises when a message is pinned or unpinned.
 */
export const usePins = (chatId: string, version: number) =>
  useQuery({
    queryKey: [...keys.pins(chatId), version],
    queryFn: ({ signal }) =>
      fetchAllPages(query =>
        unwrap(rest.GET('/api/v1/chats/{chat_id}/pins', { params: { path: { chat_id: chatId }, query }, signal })),
      ),
    placeholderData: keepPreviousData,
    staleTime: 0,
  })

export const stopRun = (id: string) =>
  unwrap(rest.POST('/api/v1/runs/{run_id}/stop', { params: { path: { run_id: id } } }))
export const retryRun = (id: string) =>
  unwrap(rest.POST('/api/v1/runs/{run_id}/retry', { params: { path: { run_id: id } } }))
