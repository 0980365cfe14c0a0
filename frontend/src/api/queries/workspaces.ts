import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { del, get, patch, post, put } from '../client'
import type { MembershipRow, ModelOffer, ModelRow, ModelTest, Page, Role, WorkspaceRow } from '../types'
import { useDeed } from './deed'
import { keys } from './keys'
import { all } from './pages'

export interface ModelChoice {
  provider: ModelRow['provider']
  api_base?: string | null
  key?: string
  default_model: string
  revision?: number
}

export const createWorkspace = (name: string) => post<WorkspaceRow>('/workspaces', { name })

export const useMembers = (id: string) =>
  useQuery({
    queryKey: keys.members(id),
    queryFn: ({ signal }) => all<MembershipRow>(`/workspaces/${id}/members`, signal),
  })

export const readModel = (id: string) => get<ModelRow>(`/workspaces/${id}/model`)
export const useModel = (id: string) => useQuery({ queryKey: keys.model(id), queryFn: () => readModel(id) })
export const useOffers = () =>
  useQuery({
    queryKey: keys.offers,
    queryFn: async () => (await get<Page<ModelOffer>>('/model-offers')).results,
    staleTime: 60_000,
  })

export const testModel = (id: string, choice: ModelChoice) => post<ModelTest>(`/workspaces/${id}/model/test`, choice)
export const chooseModel = (id: string, choice: ModelChoice) => put<ModelRow>(`/workspaces/${id}/model`, choice)

/** A change to a workspace, after which all that hangs on it is read again. */
function useWorkspaceChange<T>(id: string, change: (input: T) => Promise<unknown>) {
  return useDeed(useChange(id, change))
}

function useChange<T>(id: string, change: (input: T) => Promise<unknown>) {
  const client = useQueryClient()
  return {
    mutationFn: change,
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: keys.workspace(id) }),
        client.invalidateQueries({ queryKey: keys.me }),
      ]),
  }
}

export const useRename = (workspace: WorkspaceRow) =>
  useWorkspaceChange(workspace.id, (name: string) =>
    patch<WorkspaceRow>(`/workspaces/${workspace.id}`, { name, revision: workspace.revision }),
  )

export const useSetRole = (id: string) =>
  useMutation(
    useChange(id, ({ actorId, role }: { actorId: string; role: Role }) =>
      patch(`/workspaces/${id}/members/${actorId}`, { role }),
    ),
  )

export const useRemoveMember = (id: string) =>
  useWorkspaceChange(id, (actorId: string) => del(`/workspaces/${id}/members/${actorId}`))

export const useChooseModel = (id: string) => useWorkspaceChange(id, (choice: ModelChoice) => chooseModel(id, choice))

export const leaveWorkspace = (id: string) => post<void>(`/workspaces/${id}/leave`)
