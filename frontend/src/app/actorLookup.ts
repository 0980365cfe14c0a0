import { useCallback, useMemo } from 'react'
import { type ActorRow, useAgents, useMembers } from '@/api'
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
