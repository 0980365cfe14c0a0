import { useCallback } from 'react'
import { type ActorRow, useAgents, useMembers } from '@/api'
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
