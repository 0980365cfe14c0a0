import { useParams } from '@tanstack/react-router'
import { useCallback } from 'react'
import { type ActorRow, useAgents, useChats, useMembers } from '@/api'
import { useShell } from './ShellContext'

/** Anybody of the workspace by id. */
export function useWho(): (id: string) => ActorRow | null {
  const { workspace } = useShell()
  const people = useMembers(workspace.id).data
  const agents = useAgents(workspace.id).data
  return useCallback(
    id => [...(people ?? []), ...(agents ?? [])].find(row => row.actor.id === id)?.actor ?? null,
    [people, agents],
  )
}

export function useNameOf(): (id: string) => string {
  const who = useWho()
  return useCallback(id => who(id)?.name ?? '', [who])
}

/** How many lines are unread in the chats that are not open. */
export function useUnread(): number {
  const { workspace } = useShell()
  const open = useParams({ strict: false }).chat
  const chats = useChats(workspace.id).data ?? []
  return chats.reduce((sum, each) => sum + (each.chat.id === open ? 0 : each.unread), 0)
}
