import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef } from 'react'
import { rest, unwrap } from '../client'
import type { BodyOf, ToolEffect, ToolJobRow, ToolPolicy } from '../types'
import { useAction } from './action'
import { keys } from './keys'
import { fetchAllPages } from './pages'

export type McpServerInput = Required<BodyOf<'/api/v1/workspaces/{workspace_id}/mcp-servers', 'post'>>

export const useToolServers = (workspaceId: string) =>
  useQuery({
    queryKey: keys.toolServers(workspaceId),
    queryFn: async ({ signal }) =>
      (
        await unwrap(
          rest.GET('/api/v1/workspaces/{workspace_id}/tool-servers', {
            params: { path: { workspace_id: workspaceId } },
            signal,
          }),
        )
      ).results,
  })

/** Reads all tools that agents of the workspace can be given, also those that are off. */
export const useOfferedTools = (workspaceId: string) =>
  useQuery({
    queryKey: keys.offeredTools(workspaceId),
    queryFn: async ({ signal }) =>
      (
        await unwrap(
          rest.GET('/api/v1/workspaces/{workspace_id}/tools', {
            params: { path: { workspace_id: workspaceId } },
            signal,
          }),
        )
      ).results,
  })

/** A mutation after which the servers and tools of the workspace are read again. */
function useToolAction<Result, Input>(workspaceId: string, mutationFn: (input: Input) => Promise<Result>) {
  const client = useQueryClient()
  return useAction<Result, Input>({
    mutationFn,
    onSettled: () => {
      // Not awaited: otherwise the `onSuccess` of `mutate`, which closes a dialog, would be called only after the lists
      // are read, and not at all if the dialog is unmounted by then.
      void client.invalidateQueries({ queryKey: keys.toolServers(workspaceId) })
    },
  })
}

export const useAddMcpServer = (workspaceId: string) =>
  useToolAction(workspaceId, (body: McpServerInput) =>
    unwrap(
      rest.POST('/api/v1/workspaces/{workspace_id}/mcp-servers', {
        params: { path: { workspace_id: workspaceId } },
        body,
      }),
    ),
  )

/** Has a worker list the tools of a server again. A `ListChanged` frame follows when the worker has listed them. */
export const useRefreshMcpServer = (workspaceId: string) =>
  useToolAction(workspaceId, (id: string) =>
    rest.POST('/api/v1/mcp-servers/{server_id}/refresh', { params: { path: { server_id: id } } }),
  )

export const useDeleteToolServer = (workspaceId: string) =>
  useToolAction(workspaceId, (id: string) =>
    rest.DELETE('/api/v1/tool-servers/{server_id}', { params: { path: { server_id: id } } }),
  )

/** Returns the URL of the authorization server at which the person signs in. */
export const startMcpSignIn = async (id: string) =>
  (await unwrap(rest.POST('/api/v1/mcp-servers/{server_id}/sign-in', { params: { path: { server_id: id } } }))).url

export type HttpServerInput = Required<BodyOf<'/api/v1/workspaces/{workspace_id}/http-servers', 'post'>>
export type HttpToolInput = BodyOf<'/api/v1/tool-servers/{server_id}/tools', 'post'>
type ChosenOperation = NonNullable<BodyOf<'/api/v1/tool-servers/{server_id}/operations', 'post'>['operations']>[number]

export function useSetToolPolicy(workspaceId: string, tool: string) {
  const client = useQueryClient()
  // Not `useAction`, which would drop a second choice that is made while the first is sent. The scope sends the second afterwards.
  return useMutation({
    scope: { id: `policy ${workspaceId} ${tool}` },
    mutationFn: (policy: ToolPolicy) =>
      unwrap(
        rest.PUT('/api/v1/workspaces/{workspace_id}/tools/{tool}/policy', {
          params: { path: { workspace_id: workspaceId, tool } },
          body: { policy },
        }),
      ),
    // Awaited, so that `isPending` does not end before the policy that was chosen is read.
    onSettled: () => client.invalidateQueries({ queryKey: keys.toolServers(workspaceId) }),
  })
}

const createServer = (workspaceId: string, body: HttpServerInput) =>
  unwrap(
    rest.POST('/api/v1/workspaces/{workspace_id}/http-servers', {
      params: { path: { workspace_id: workspaceId } },
      body,
    }),
  )

export const useAddHttpServer = (workspaceId: string) =>
  useToolAction(workspaceId, (body: HttpServerInput) => createServer(workspaceId, body))

export const useReplaceCredential = (workspaceId: string) =>
  useToolAction(workspaceId, ({ id, ...body }: { id: string; revision: number; credential: string }) =>
    unwrap(rest.PATCH('/api/v1/tool-servers/{server_id}', { params: { path: { server_id: id } }, body })),
  )

export const useCreateTool = (workspaceId: string, serverId: string) =>
  useToolAction(workspaceId, (body: HttpToolInput) =>
    unwrap(rest.POST('/api/v1/tool-servers/{server_id}/tools', { params: { path: { server_id: serverId } }, body })),
  )

interface Import {
  jobId: string
  operations: ChosenOperation[]
  /** The id of an existing server, or the fields of a new one. */
  server: string | HttpServerInput
}

/**
 * Imports operations of a document that was read. A new server is created first: `onServerCreated` gets its id, for another
 * try if the import is refused.
 */
export const useImportOperations = (workspaceId: string, onServerCreated: (id: string) => void) =>
  useToolAction(workspaceId, async ({ jobId, operations, server }: Import) => {
    const id = typeof server === 'string' ? server : (await createServer(workspaceId, server)).id
    if (typeof server !== 'string') onServerCreated(id)
    return unwrap(
      rest.POST('/api/v1/tool-servers/{server_id}/operations', {
        params: { path: { server_id: id } },
        body: { job_id: jobId, operations },
      }),
    )
  })

type ToolChanges = BodyOf<'/api/v1/workspace-tools/{tool_id}', 'patch'>

export const useChangeTool = (workspaceId: string) =>
  useToolAction(workspaceId, ({ id, ...body }: ToolChanges & { id: string }) =>
    unwrap(rest.PATCH('/api/v1/workspace-tools/{tool_id}', { params: { path: { tool_id: id } }, body })),
  )

export const useDeleteTool = (workspaceId: string) =>
  useToolAction(workspaceId, (id: string) =>
    rest.DELETE('/api/v1/workspace-tools/{tool_id}', { params: { path: { tool_id: id } } }),
  )

/** Reads the agents that have a tool in production or in a draft. They are read again each time: drafts change often. */
export const useAgentsWithTool = (id: string) =>
  useQuery({
    queryKey: keys.agentsWithTool(id),
    queryFn: ({ signal }) =>
      fetchAllPages(query =>
        unwrap(
          rest.GET('/api/v1/workspace-tools/{tool_id}/agents', { params: { path: { tool_id: id }, query }, signal }),
        ),
      ),
    gcTime: 0,
    staleTime: 0,
  })

export const useApproveTool = (workspaceId: string) =>
  useToolAction(workspaceId, ({ id, ...body }: { id: string; hash: string; effect: ToolEffect }) =>
    unwrap(rest.PUT('/api/v1/workspace-tools/{tool_id}/approval', { params: { path: { tool_id: id } }, body })),
  )

const JOB_POLL_MS = 400

/** Polls a job of a worker until it is done. */
async function waitForJob(workspaceId: string, started: ToolJobRow, signal: AbortSignal): Promise<ToolJobRow> {
  let job = started
  while (job.state !== 'done') {
    await new Promise(resolve => setTimeout(resolve, JOB_POLL_MS))
    signal.throwIfAborted()
    job = await unwrap(
      rest.GET('/api/v1/workspaces/{workspace_id}/tool-jobs/{job_id}', {
        params: { path: { workspace_id: workspaceId, job_id: job.id } },
        signal,
      }),
    )
  }
  return job
}

/** Returns `startSignal` and `abort`. `abort`, the next `startSignal` and the end of the component abort the signal. */
function useAbort() {
  const controller = useRef<AbortController | null>(null)
  const abort = useCallback(() => controller.current?.abort(), [])
  useEffect(() => abort, [abort])
  const startSignal = () => {
    abort()
    controller.current = new AbortController()
    return controller.current.signal
  }
  return { abort, startSignal }
}

/**
 * Has a worker read an OpenAPI document, by its URL or its text. The result is no longer waited for when another document
 * is read, `reset` is called, or the component is unmounted.
 */
export function useReadOpenApiDocument(workspaceId: string) {
  const { abort, startSignal } = useAbort()
  // Not `useAction`: another document may be read while the first one is.
  const mutation = useMutation({
    mutationFn: async (source: string) => {
      const signal = startSignal()
      const isUrl = /^https?:\/\/\S+$/.test(source)
      const body = isUrl ? { url: source, text: '' } : { url: '', text: source }
      const job = await unwrap(
        rest.POST('/api/v1/workspaces/{workspace_id}/openapi-documents', {
          params: { path: { workspace_id: workspaceId } },
          body,
        }),
      )
      return waitForJob(workspaceId, job, signal)
    },
  })
  const reset = () => {
    abort()
    mutation.reset()
  }
  return { ...mutation, reset }
}

/** Has a worker call a tool once, and waits for the result while the component is mounted. */
export function useToolTest(workspaceId: string, id: string) {
  const { startSignal } = useAbort()
  return useAction<ToolJobRow, Record<string, unknown>>({
    mutationFn: async callArguments => {
      const signal = startSignal()
      const job = await unwrap(
        rest.POST('/api/v1/workspace-tools/{tool_id}/test', {
          params: { path: { tool_id: id } },
          body: { arguments: callArguments },
        }),
      )
      return waitForJob(workspaceId, job, signal)
    },
  })
}
