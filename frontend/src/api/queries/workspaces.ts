import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { rest, unwrap } from '../client'
import type { BodyOf, ModelRow, Role, WorkspaceRow } from '../types'
import { useAction } from './action'
import { keys } from './keys'
import { fetchAllPages } from './pages'

export type ModelChoice = BodyOf<'/api/v1/workspaces/{workspace_id}/model', 'put'>

/** Builds the path parameters of a workspace. */
const workspaceParams = (id: string) => ({ params: { path: { workspace_id: id } } })

export const createWorkspace = (name: string) => unwrap(rest.POST('/api/v1/workspaces', { body: { name } }))

/** Reads the active invite links made by a member. They end when the member loses the right to invite. */
export const useMemberLinks = (id: string, actorId: string, enabled: boolean) =>
  useQuery({
    queryKey: keys.memberLinks(id, actorId),
    queryFn: ({ signal }) =>
      fetchAllPages(query =>
        unwrap(
          rest.GET('/api/v1/workspaces/{workspace_id}/members/{actor_id}/links', {
            params: { path: { workspace_id: id, actor_id: actorId }, query },
            signal,
          }),
        ),
      ),
    enabled,
    staleTime: 0,
  })

export const useModel = (id: string) =>
  useQuery({
    queryKey: keys.model(id),
    queryFn: () => unwrap(rest.GET('/api/v1/workspaces/{workspace_id}/model', workspaceParams(id))),
  })

export const useModelOffers = () =>
  useQuery({
    queryKey: keys.offers,
    queryFn: async () => (await unwrap(rest.GET('/api/v1/model-offers'))).results,
    staleTime: 60_000,
  })

/** Reads the model providers and the fields that each requires. They change only with a release. */
export const useModelProviders = () =>
  useQuery({
    queryKey: keys.providers,
    queryFn: async () => (await unwrap(rest.GET('/api/v1/model-providers'))).results,
    staleTime: Number.POSITIVE_INFINITY,
  })

/** Pause between two requests for the state of a model test, in ms. */
const TEST_POLL_MS = 500

/**
 * Starts a test of a model and polls until it is done. Without a model name, the test only lists the server's models.
 * `workspaceId` null: of the own model of the signed-in person.
 */
export async function testModel(
  workspaceId: string | null,
  { revision: _, context_size: __, ...choice }: ModelChoice,
  signal: AbortSignal,
) {
  let test = await startTest(workspaceId, choice)
  while (test.state !== 'done') {
    await new Promise(resolve => setTimeout(resolve, TEST_POLL_MS))
    signal.throwIfAborted()
    test = await readTest(workspaceId, test.id, signal)
  }
  return test
}

const startTest = (workspaceId: string | null, body: Omit<ModelChoice, 'revision' | 'context_size'>) =>
  unwrap(
    workspaceId === null
      ? rest.POST('/api/v1/me/llm-profile/test', { body })
      : rest.POST('/api/v1/workspaces/{workspace_id}/model/test', { ...workspaceParams(workspaceId), body }),
  )

const readTest = (workspaceId: string | null, testId: string, signal: AbortSignal) =>
  unwrap(
    workspaceId === null
      ? rest.GET('/api/v1/me/llm-profile/test/{test_id}', { params: { path: { test_id: testId } }, signal })
      : rest.GET('/api/v1/workspaces/{workspace_id}/model/test/{test_id}', {
          params: { path: { workspace_id: workspaceId, test_id: testId } },
          signal,
        }),
  )

/** Reads the own model of the signed-in person. */
export const useLLMProfile = () =>
  useQuery({ queryKey: keys.llmProfile, queryFn: () => unwrap(rest.GET('/api/v1/me/llm-profile')) })

export function useDeleteLLMProfile() {
  const client = useQueryClient()
  return useAction({
    mutationFn: () => rest.DELETE('/api/v1/me/llm-profile'),
    onSettled: () => client.invalidateQueries(),
  })
}

/** Reads who pays for the models of a workspace. */
export const useModelPolicy = (id: string) =>
  useQuery({
    queryKey: keys.modelPolicy(id),
    queryFn: () => unwrap(rest.GET('/api/v1/workspaces/{workspace_id}/model/policy', workspaceParams(id))),
  })

export const useSetModelPolicy = (id: string) =>
  useWorkspaceAction(id, (allows_llm_profiles: boolean) =>
    unwrap(
      rest.PUT('/api/v1/workspaces/{workspace_id}/model/policy', {
        ...workspaceParams(id),
        body: { allows_llm_profiles },
      }),
    ),
  )

/** An action on a workspace, after which its data and `me` are read again. */
function useWorkspaceAction<T>(id: string, action: (input: T) => Promise<unknown>) {
  return useAction(useWorkspaceMutationOptions(id, action))
}

function useWorkspaceMutationOptions<T>(id: string, action: (input: T) => Promise<unknown>) {
  const client = useQueryClient()
  return {
    mutationFn: action,
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: keys.workspace(id) }),
        client.invalidateQueries({ queryKey: keys.me }),
      ]),
  }
}

/** Renames a workspace, and sets its time zone if one is given. */
export const renameWorkspace = (
  workspace: WorkspaceRow,
  name: string,
  { timeZone = workspace.time_zone, handle = workspace.handle }: { timeZone?: string; handle?: string } = {},
) =>
  unwrap(
    rest.PATCH('/api/v1/workspaces/{workspace_id}', {
      ...workspaceParams(workspace.id),
      body: { name, time_zone: timeZone, handle, revision: workspace.revision },
    }),
  )

export const useRenameWorkspace = (workspace: WorkspaceRow) =>
  useWorkspaceAction(workspace.id, ({ name, ...more }: { name: string; timeZone: string; handle: string }) =>
    renameWorkspace(workspace, name, more),
  )

export const useSetRole = (id: string) =>
  // Not `useAction`, which would drop a second choice that is made while the first is sent.
  useMutation(
    useWorkspaceMutationOptions(id, ({ actorId, role }: { actorId: string; role: Role }) =>
      rest.PATCH('/api/v1/workspaces/{workspace_id}/members/{actor_id}', {
        params: { path: { workspace_id: id, actor_id: actorId } },
        body: { role },
      }),
    ),
  )

export const useRemoveMember = (id: string) =>
  useWorkspaceAction(id, (actorId: string) =>
    rest.DELETE('/api/v1/workspaces/{workspace_id}/members/{actor_id}', {
      params: { path: { workspace_id: id, actor_id: actorId } },
    }),
  )

/** Sets the model of a workspace. `workspaceId` null: sets the own model of the signed-in person. */
export function useChooseModel(workspaceId: string | null) {
  const client = useQueryClient()
  return useAction({
    mutationFn: (body: ModelChoice): Promise<ModelRow> =>
      workspaceId === null
        ? setLLMProfile(body)
        : unwrap(rest.PUT('/api/v1/workspaces/{workspace_id}/model', { ...workspaceParams(workspaceId), body })),
    onSettled: () => client.invalidateQueries(),
  })
}

/** Sets the own model of the signed-in person. */
async function setLLMProfile(body: ModelChoice): Promise<ModelRow> {
  const { model } = await unwrap(rest.PUT('/api/v1/me/llm-profile', { body }))
  if (!model) throw new Error('The saved model is missing in the response.')
  return model
}

export const leaveWorkspace = (id: string) => rest.POST('/api/v1/workspaces/{workspace_id}/leave', workspaceParams(id))

/** `name`: that of the workspace, as a confirmation. `password`: that of the signed-in person. */
export const deleteWorkspace = (id: string, body: BodyOf<'/api/v1/workspaces/{workspace_id}/deletion', 'post'>) =>
  rest.POST('/api/v1/workspaces/{workspace_id}/deletion', { ...workspaceParams(id), body })

/** Reads the deleted workspaces that the signed-in person can restore. */
export const useDeletedWorkspaces = () =>
  useQuery({
    queryKey: keys.deletedWorkspaces,
    queryFn: ({ signal }) =>
      fetchAllPages(query => unwrap(rest.GET('/api/v1/deleted-workspaces', { params: { query }, signal }))),
    staleTime: 0,
  })

/** Undoes the deletion of a workspace. */
export function useRestoreWorkspace() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => unwrap(rest.POST('/api/v1/workspaces/{workspace_id}/restoration', workspaceParams(id))),
    onSettled: () => client.invalidateQueries({ queryKey: keys.me }),
  })
}
