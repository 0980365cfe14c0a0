import { useParams } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'
import { type ActorRow, useAgents, useChats, useMembers } from '@/api'
import { usePageTitle } from '@/lib/title'
import { useShell } from './ShellContext'

/** Returns a function that finds a member or an agent of the workspace by id. */
export function useActorLookup(): (id: string) => ActorRow | null {
  const { workspace } = useShell()
  const people = useMembers(workspace.id).data
  const agents = useAgents(workspace.id).data
  return useMemo(() => {
    const known = new Map([...(people ?? []), ...(agents ?? [])].map(row => [row.actor.id, row.actor]))
    return id => known.get(id) ?? null
  }, [people, agents])
}

export function useNameOf(): (id: string) => string {
  const findActor = useActorLookup()
  return useCallback(id => findActor(id)?.name ?? '', [findActor])
}

/** Returns the number of unread messages in the chats that are not open. */
export function useUnread(): number {
  const { workspace } = useShell()
  const open = useParams({ strict: false }).chat
  const chats = useChats(workspace.id).data ?? []
  return chats.reduce((sum, row) => sum + (row.chat.id === open ? 0 : row.unread), 0)
}

/** Sets the title of the page, with the number of unread messages before it. */
export function useTitle(title: string | undefined): void {
  usePageTitle(title, useUnread())
}
