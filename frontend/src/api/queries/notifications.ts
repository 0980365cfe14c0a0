import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { answerOf, rest } from '../client'
import { useAction } from './action'
import { keys } from './keys'
import { pageQuery } from './pages'

/** Both keys start with `keys.notifications`, so that they are invalidated together. */
const listKey = [...keys.notifications, 'list'] as const
const countKey = [...keys.notifications, 'count'] as const

/** How many are unread, counted up to 100; undefined until it is known. */
export const useUnreadNotifications = (): number | undefined =>
  useQuery({
    queryKey: countKey,
    queryFn: ({ signal }) => answerOf(rest.GET('/api/v1/notifications/count', { signal })),
  }).data?.unread

const PAGE = 30

export const useNotifications = () =>
  useInfiniteQuery({
    queryKey: listKey,
    queryFn: ({ pageParam, signal }) =>
      answerOf(
        rest.GET('/api/v1/notifications', { params: { query: { limit: PAGE, ...pageQuery(pageParam) } }, signal }),
      ),
    initialPageParam: '',
    getNextPageParam: page => page.next,
  })

/** Marks one as read, or, with null, all. */
export function useMarkNotifications() {
  const client = useQueryClient()
  return useAction({
    mutationFn: (id: string | null) =>
      answerOf(rest.POST('/api/v1/notifications/read', { body: id === null ? {} : { ids: [id] } })),
    onSuccess: unread => client.setQueryData(countKey, unread),
    onSettled: () => client.invalidateQueries({ queryKey: listKey }),
  })
}
