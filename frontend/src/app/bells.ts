/** Bells from the socket: which lists have to be read again. */
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { keys, type ServerFrame } from '@/api'
import { actorTopic, connection, onFrame, onSignedOut, startLive, useTopic, workspaceTopic } from '@/realtime'

type Bell = Extract<ServerFrame, { type: 'bell' }>

/** Bells that ring together are answered together. */
const PAUSE_MS = 150

function keyOf(bell: Bell, workspaceId: string): readonly unknown[] {
  switch (bell.what) {
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
    case 'notifications':
      return keys.notifications
    case 'workspace':
    case 'me':
      return keys.me
    default:
      return bell.what satisfies never
  }
}

function answerer(client: QueryClient, workspaceId: string) {
  const waiting = new Map<string, readonly unknown[]>()
  let timer: ReturnType<typeof setTimeout> | undefined
  const answer = () => {
    timer = undefined
    for (const key of waiting.values()) void client.invalidateQueries({ queryKey: key })
    waiting.clear()
  }
  return {
    hear(frame: ServerFrame) {
      if (frame.type === 'access') waiting.set('chats', keys.chats(workspaceId)).set('me', keys.me)
      else if (frame.type === 'bell') waiting.set(frame.what, keyOf(frame, workspaceId))
      else return
      timer ??= setTimeout(answer, PAUSE_MS)
    },
    stop: () => clearTimeout(timer),
  }
}

/** Keeps the lists of a workspace fresh. After a break in the line, every list is read again: bells may have been missed. */
export function useBells(workspaceId: string | null, actorId: string): void {
  const client = useQueryClient()
  useTopic(workspaceId ? workspaceTopic(workspaceId) : null)
  useTopic(actorTopic(actorId))
  useEffect(() => startLive(), [])
  useEffect(
    // A moment later: a new password ends the sockets while the answer with the new session is still on its way.
    () => onSignedOut(() => setTimeout(() => void client.invalidateQueries({ queryKey: keys.me }), 500)),
    [client],
  )
  useEffect(() => {
    const answering = answerer(client, workspaceId ?? '')
    const off = onFrame(answering.hear)
    return () => {
      off()
      answering.stop()
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
