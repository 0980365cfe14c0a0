/** Reads lists again when a frame says that they changed. */
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { applyChangedRows, applyChatActivity, keys, type ListedChatRow, type ServerFrame } from '@/api'
import { actorTopic, connection, onFrame, startRealtime, useTopic, workspaceTopic } from '@/realtime'

type ListChanged = Extract<ServerFrame, { type: 'list_changed' }>
type Activity = Extract<ServerFrame, { type: 'chat_activity' }>
type RowsOfChat = Extract<ServerFrame, { type: 'changes' | 'subscribed' }>

/** Changes within the pause are read together; the jitter spreads the requests of many clients. */
const PAUSE_MS = 150
const JITTER_MS = 850

function getQueryKey(change: ListChanged, workspaceId: string): readonly unknown[] {
  switch (change.list) {
    case 'chats':
      return keys.chats(workspaceId)
    case 'agents':
      return keys.agents(workspaceId)
    case 'members':
      return keys.members(workspaceId)
    case 'model':
      return keys.model(workspaceId)
    case 'suggestions':
      return keys.suggestions(workspaceId)
    case 'files':
      return keys.files(workspaceId)
    case 'tools':
      return keys.toolServers(workspaceId)
    case 'budgets':
      return keys.budgets(workspaceId)
    case 'memory':
      return keys.memory(workspaceId)
    case 'summaries':
      return keys.summaries
    case 'context':
      return keys.contextSettings(workspaceId)
    case 'schedules':
      return keys.schedules
    case 'drafts':
      return keys.lockedDrafts(workspaceId)
    case 'notifications':
      return keys.notifications
    case 'workspace':
    case 'me':
      return keys.me
    default:
      return change.list satisfies never
  }
}

function createInvalidator(client: QueryClient, workspaceId: string) {
  const pendingKeys = new Map<string, readonly unknown[]>()
  let timer: ReturnType<typeof setTimeout> | undefined
  const flush = () => {
    timer = undefined
    for (const key of pendingKeys.values()) void client.invalidateQueries({ queryKey: key })
    pendingKeys.clear()
  }
  const chatsKey = keys.chats(workspaceId)
  /** Applies an activity to the list of chats. Returns whether the list must be read again. */
  const applyActivity = (activity: Activity): boolean => {
    const chats = client.getQueryData<ListedChatRow[]>(chatsKey)
    const updated = chats && applyChatActivity(chats, activity)
    // A chat that is not in the list is new to it, unless it is one of another workspace.
    if (!updated) return activity.topic === workspaceTopic(workspaceId)
    client.setQueryData(chatsKey, updated)
    // The response of a pending request may be older than the frame.
    return client.isFetching({ queryKey: chatsKey }) > 0
  }
  /** Applies rows of an open chat to the list of chats. Returns whether the list must be read again. */
  const applyRows = ({ rows }: RowsOfChat): boolean => {
    const chats = client.getQueryData<ListedChatRow[]>(chatsKey)
    const updated = chats && applyChangedRows(chats, rows)
    if (!updated) return false
    client.setQueryData(chatsKey, updated)
    return client.isFetching({ queryKey: chatsKey }) > 0
  }
  /** Returns whether the list of chats must be read again after a frame. */
  const isChatsOutdated = (frame: ServerFrame): boolean => {
    if (frame.type === 'chat_activity') return applyActivity(frame)
    if (frame.type === 'changes' || frame.type === 'subscribed') return applyRows(frame)
    return frame.type === 'access'
  }
  return {
    handleFrame(frame: ServerFrame) {
      if (isChatsOutdated(frame)) pendingKeys.set('chats', chatsKey)
      if (frame.type === 'access') pendingKeys.set('me', keys.me)
      if (frame.type === 'list_changed') pendingKeys.set(frame.list, getQueryKey(frame, workspaceId))
      if (pendingKeys.size > 0) timer ??= setTimeout(flush, PAUSE_MS + Math.random() * JITTER_MS)
    },
    stop: () => clearTimeout(timer),
  }
}

/** Keeps the lists of a workspace up to date. After a reconnect every list is read again, because frames may have been missed. */
export function useListChanges(workspaceId: string | null, actorId: string): void {
  const client = useQueryClient()
  useTopic(workspaceId ? workspaceTopic(workspaceId) : null)
  useTopic(actorTopic(actorId))
  useEffect(() => startRealtime(), [])
  useEffect(() => {
    const invalidator = createInvalidator(client, workspaceId ?? '')
    const unsubscribe = onFrame(invalidator.handleFrame)
    return () => {
      unsubscribe()
      invalidator.stop()
    }
  }, [client, workspaceId])
  useEffect(() => {
    let wasDisconnected = false
    return connection.subscribe(() => {
      const { state } = connection.get()
      if (state === 'waiting') wasDisconnected = true
      if (state !== 'open' || !wasDisconnected) return
      wasDisconnected = false
      void client.invalidateQueries()
    })
  }, [client])
}
