import { useParams } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'
import { type ActorRow, useAgents, useChats, useMembers } from '@/api'
import { usePageTitle } from '@/lib/title'
import { useShell } from './ShellContext'

/** Anybody of the workspace by id. */
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
  const who = useActorLookup()
  return useCallback(id => who(id)?.name ?? '', [who])
}

/** How many lines are unread in the chats that are not open. */
export function useUnread(): number {
  const { workspace } = useShell()
  const open = useParams({ strict: false }).chat
  const chats = useChats(workspace.id).data ?? []
  return chats.reduce((sum, each) => sum + (each.chat.id === open ? 0 : each.unread), 0)
}

/** Name the page in the browser's tab, after how much is unread. */
export function useTitle(title: string | undefined): void {
  usePageTitle(title, useUnread())
}
