/** Frames that say that a list has changed: it is read again. */
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { type ChatSummaryRow, keys, type ServerFrame, withActivity } from '@/api'
import { actorTopic, connection, onFrame, startLive, useTopic, workspaceTopic } from '@/realtime'

type ListChanged = Extract<ServerFrame, { type: 'list_changed' }>
type Activity = Extract<ServerFrame, { type: 'chat_activity' }>

/** Lists that change together are read together, and not by everybody at the same moment. */
const PAUSE_MS = 150
const JITTER_MS = 850

function keyOf(change: ListChanged, workspaceId: string): readonly unknown[] {
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
  const waiting = new Map<string, readonly unknown[]>()
  let timer: ReturnType<typeof setTimeout> | undefined
  const flush = () => {
    timer = undefined
    for (const key of waiting.values()) void client.invalidateQueries({ queryKey: key })
    waiting.clear()
  }
  const key = keys.chats(workspaceId)
  const applyActivity = (activity: Activity) => {
    const chats = client.getQueryData<ChatSummaryRow[]>(key)
    const known = chats && withActivity(chats, activity)
    if (known) client.setQueryData(key, known)
    // An answer that is on its way may be older than this; and a chat of this workspace that is not in the list is new.
    return !(known ? client.isFetching({ queryKey: key }) : activity.topic === workspaceTopic(workspaceId))
  }
  return {
    handleFrame(frame: ServerFrame) {
      if (frame.type === 'chat_activity' && applyActivity(frame)) return
      if (frame.type === 'access') waiting.set('chats', keys.chats(workspaceId)).set('me', keys.me)
      else if (frame.type === 'chat_activity') waiting.set('chats', key)
      else if (frame.type === 'list_changed') waiting.set(frame.list, keyOf(frame, workspaceId))
      else return
      timer ??= setTimeout(flush, PAUSE_MS + Math.random() * JITTER_MS)
    },
    stop: () => clearTimeout(timer),
  }
}

/** Keeps the lists of a workspace fresh. After a break in the line, every list is read again: frames may have been missed. */
export function useListChanges(workspaceId: string | null, actorId: string): void {
  const client = useQueryClient()
  useTopic(workspaceId ? workspaceTopic(workspaceId) : null)
  useTopic(actorTopic(actorId))
  useEffect(() => startLive(), [])
  useEffect(() => {
    const invalidator = createInvalidator(client, workspaceId ?? '')
    const off = onFrame(invalidator.handleFrame)
    return () => {
      off()
      invalidator.stop()
    }
  }, [client, workspaceId])
  useEffect(() => {
    let wasAway = false
    return connection.subscribe(() => {
      const { state } = connection.get()
      if (state === 'waiting') wasAway = true
      if (state !== 'open' || !wasAway) return
      wasAway = false
      void client.invalidateQueries()
    })
  }, [client])
}
