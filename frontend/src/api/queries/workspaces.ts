import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { answerOf, rest } from '../client'
import type { BodyOf, Role, WorkspaceRow } from '../types'
import { useAction } from './action'
import { keys } from './keys'
import { fetchAllPages } from './pages'

export type ModelChoice = BodyOf<'/api/v1/workspaces/{workspace_id}/model', 'put'>

/** The parameters of an address below a workspace. */
const workspaceParams = (id: string) => ({ params: { path: { workspace_id: id } } })

export const createWorkspace = (name: string) => answerOf(rest.POST('/api/v1/workspaces', { body: { name } }))

export const useMembers = (id: string) =>
  useQuery({
    queryKey: keys.members(id),
    queryFn: ({ signal }) =>
      fetchAllPages(query =>
        answerOf(
          rest.GET('/api/v1/workspaces/{workspace_id}/members', {
            params: { path: { workspace_id: id }, query },
            signal,
          }),
        ),
      ),
  })

/** The living links that a member made: they end with the member's right to invite. */
export const useMemberLinks = (id: string, actorId: string, enabled: boolean) =>
  useQuery({
    queryKey: keys.memberLinks(id, actorId),
    queryFn: ({ signal }) =>
      fetchAllPages(query =>
        answerOf(
          rest.GET('/api/v1/workspaces/{workspace_id}/members/{actor_id}/links', {
            params: { path: { workspace_id: id, actor_id: actorId }, query },
            signal,
          }),
        ),
      ),
    enabled,
    staleTime: 0,
  })

const readModel = (id: string) => answerOf(rest.GET('/api/v1/workspaces/{workspace_id}/model', workspaceParams(id)))
export const useModel = (id: string) => useQuery({ queryKey: keys.model(id), queryFn: () => readModel(id) })
export const useOffers = () =>
  useQuery({
    queryKey: keys.offers,
    queryFn: async () => (await answerOf(rest.GET('/api/v1/model-offers'))).results,
    staleTime: 60_000,
  })

/** The providers of models, with what each needs: they change with a release only. */
export const useProviders = () =>
  useQuery({
    queryKey: keys.providers,
    queryFn: async () => (await answerOf(rest.GET('/api/v1/model-providers'))).results,
    staleTime: Number.POSITIVE_INFINITY,
  })

/** How long a test of a model is waited for between two questions, in ms. */
const TEST_POLL_MS = 500

/** Has a worker try a model, and asks until it is done. Without a model's name only the server's models are listed. */
export async function testModel(id: string, { revision: _, ...choice }: ModelChoice, signal: AbortSignal) {
  let test = await answerOf(
    rest.POST('/api/v1/workspaces/{workspace_id}/model/test', { ...workspaceParams(id), body: choice }),
  )
  while (test.state !== 'done') {
    await new Promise(resolve => setTimeout(resolve, TEST_POLL_MS))
    signal.throwIfAborted()
    test = await answerOf(
      rest.GET('/api/v1/workspaces/{workspace_id}/model/test/{test_id}', {
        params: { path: { workspace_id: id, test_id: test.id } },
        signal,
      }),
    )
  }
  return test
}
const chooseModel = (id: string, choice: ModelChoice) =>
  answerOf(rest.PUT('/api/v1/workspaces/{workspace_id}/model', { ...workspaceParams(id), body: choice }))

/** A change to a workspace, after which all that hangs on it is read again. */
function useWorkspaceChange<T>(id: string, change: (input: T) => Promise<unknown>) {
  return useAction(useChange(id, change))
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

export const renameWorkspace = (workspace: WorkspaceRow, name: string) =>
  answerOf(
    rest.PATCH('/api/v1/workspaces/{workspace_id}', {
      ...workspaceParams(workspace.id),
      body: { name, revision: workspace.revision },
    }),
  )

export const useRename = (workspace: WorkspaceRow) =>
  useWorkspaceChange(workspace.id, (name: string) => renameWorkspace(workspace, name))

export const useSetRole = (id: string) =>
  useMutation(
    useChange(id, ({ actorId, role }: { actorId: string; role: Role }) =>
      rest.PATCH('/api/v1/workspaces/{workspace_id}/members/{actor_id}', {
        params: { path: { workspace_id: id, actor_id: actorId } },
        body: { role },
      }),
    ),
  )

export const useRemoveMember = (id: string) =>
  useWorkspaceChange(id, (actorId: string) =>
    rest.DELETE('/api/v1/workspaces/{workspace_id}/members/{actor_id}', {
      params: { path: { workspace_id: id, actor_id: actorId } },
    }),
  )

export const useChooseModel = (id: string) => useWorkspaceChange(id, (choice: ModelChoice) => chooseModel(id, choice))

export const leaveWorkspace = (id: string) => rest.POST('/api/v1/workspaces/{workspace_id}/leave', workspaceParams(id))
