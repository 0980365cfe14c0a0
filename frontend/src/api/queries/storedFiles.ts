/** Reading the files of a workspace or a chat, and deleting one. */
import {
  keepPreviousData,
  skipToken,
  useInfiniteQuery,
  useQueries,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { isNotFound, rest, unwrap } from '../client'
import type { FileKind, FileRow } from '../types'
import { useAction } from './action'
import { keys } from './keys'
import { buildPageQuery } from './pages'

interface FileFilter {
  q: string
  kind: FileKind | null
  /** Without the files of chats. */
  ofWorkspace?: boolean
}

const PAGE_SIZE = 50

export const useFiles = (workspaceId: string, { q, kind, ofWorkspace = false }: FileFilter) =>
  useInfiniteQuery({
    queryKey: [...keys.files(workspaceId), q, kind, ofWorkspace],
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        rest.GET('/api/v1/workspaces/{workspace_id}/files', {
          params: {
            path: { workspace_id: workspaceId },
            query: {
              limit: PAGE_SIZE,
              ...(q ? { q } : {}),
              ...(kind ? { kind } : {}),
              ...(ofWorkspace ? { of_workspace: true } : {}),
              ...buildPageQuery(pageParam),
            },
          },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: page => page.next,
  })

/** Reads the newest files that were posted in a chat and match. */
export const useChatFiles = (workspaceId: string, chatId: string, q: string) =>
  useQuery({
    queryKey: [...keys.files(workspaceId), 'chat', chatId, q],
    queryFn: async ({ signal }) =>
      (
        await unwrap(
          rest.GET('/api/v1/chats/{chat_id}/files', {
            params: { path: { chat_id: chatId }, query: { limit: PAGE_SIZE, ...(q ? { q } : {}) } },
            signal,
          }),
        )
      ).results,
    placeholderData: keepPreviousData,
  })

/** Reads one file; none while `id` is undefined. */
export const useFile = (workspaceId: string, id: string | undefined) =>
  useQuery({
    queryKey: [...keys.files(workspaceId), id],
    queryFn: id
      ? ({ signal }) => unwrap(rest.GET('/api/v1/files/{file_id}', { params: { path: { file_id: id } }, signal }))
      : skipToken,
  })

/** Reads files. Returns a function that finds one by its id: undefined until it is read, null if the reader may not see it. */
export function useFilesById(ids: readonly string[]): (id: string) => FileRow | null | undefined {
  const unique = [...new Set(ids)]
  const files = useQueries({
    queries: unique.map(id => ({
      queryKey: keys.file(id),
      queryFn: () => unwrap(rest.GET('/api/v1/files/{file_id}', { params: { path: { file_id: id } } })),
      retry: false,
    })),
    combine: results =>
      new Map(results.map(({ data, error }, index) => [unique[index], isNotFound(error) ? null : data])),
  })
  return id => files.get(id)
}

/** Reads the names of files. Returns a function that finds the name by the file's id; undefined for a file that was not read. */
export function useFileNames(ids: readonly string[]): (id: string) => string | undefined {
  const findFile = useFilesById(ids)
  return id => findFile(id)?.name
}

export const useFileText = (workspaceId: string, id: string) =>
  useQuery({
    queryKey: [...keys.files(workspaceId), id, 'text'],
    queryFn: ({ signal }) =>
      unwrap(rest.GET('/api/v1/files/{file_id}/text', { params: { path: { file_id: id } }, signal })),
  })

export function useDeleteFile(workspaceId: string) {
  const client = useQueryClient()
  return useAction({
    mutationFn: (id: string) => rest.DELETE('/api/v1/files/{file_id}', { params: { path: { file_id: id } } }),
    // Not awaited, so that a page that shows the file closes it before the file is read again and not found.
    onSettled: () => void client.invalidateQueries({ queryKey: keys.files(workspaceId) }),
  })
}
