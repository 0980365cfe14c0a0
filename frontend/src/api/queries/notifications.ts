import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { rest, unwrap } from '../client'
import { useAction } from './action'
import { keys } from './keys'
import { buildPageQuery } from './pages'

/** Both keys start with `keys.notifications`, so that they are invalidated together. */
const listKey = [...keys.notifications, 'list'] as const
const countKey = [...keys.notifications, 'count'] as const

const useCount = () =>
  useQuery({
    queryKey: countKey,
    queryFn: ({ signal }) => unwrap(rest.GET('/api/v1/notifications/count', { signal })),
  }).data

/** Returns the number of unread notifications, counted up to 100; undefined until it is loaded. */
export const useUnreadNotifications = (): number | undefined => useCount()?.unread

/** Returns the ids of the chats in which something waits for the reader, in all their workspaces. */
export const useWaitingChats = (): readonly string[] => useCount()?.waiting_chat_ids ?? []

const PAGE_SIZE = 30

export const useNotifications = () =>
  useInfiniteQuery({
    queryKey: listKey,
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        rest.GET('/api/v1/notifications', {
          params: { query: { limit: PAGE_SIZE, ...buildPageQuery(pageParam) } },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: page => page.next,
  })

/** Reads the newest unread notifications. */
export const readUnreadNotifications = (limit: number) =>
  unwrap(rest.GET('/api/v1/notifications', { params: { query: { unread: true, limit } } }))

/** Marks one notification as read, or all with null. */
export function useMarkNotifications() {
  const client = useQueryClient()
  return useAction({
    mutationFn: (id: string | null) =>
      unwrap(rest.POST('/api/v1/notifications/read', { body: id === null ? {} : { ids: [id] } })),
    onSuccess: unread => client.setQueryData(countKey, unread),
    onSettled: () => client.invalidateQueries({ queryKey: listKey }),
  })
}
