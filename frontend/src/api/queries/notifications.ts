import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { get, post } from '../client'
import type { NotificationRow, Page } from '../types'
import { useDeed } from './deed'
import { keys } from './keys'

/** Both lie below `keys.notifications`: one bell rings them. */
const listKey = [...keys.notifications, 'list'] as const
const countKey = [...keys.notifications, 'count'] as const

interface Unread {
  unread: number
}

/** How many are unread, counted up to 100; undefined until it is known. */
export const useUnreadNotifications = (): number | undefined =>
  useQuery({ queryKey: countKey, queryFn: ({ signal }) => get<Unread>('/notifications/count', signal) }).data?.unread

const PAGE = 30

export const useNotifications = () =>
  useInfiniteQuery({
    queryKey: listKey,
    queryFn: ({ pageParam, signal }) =>
      get<Page<NotificationRow>>(
        `/notifications?limit=${PAGE}${pageParam && `&cursor=${encodeURIComponent(pageParam)}`}`,
        signal,
      ),
    initialPageParam: '',
    getNextPageParam: page => page.next,
  })

/** Marks one as read, or, with null, all. */
export function useMarkNotifications() {
  const client = useQueryClient()
  return useDeed({
    mutationFn: (id: string | null) => post<Unread>('/notifications/read', id === null ? {} : { ids: [id] }),
    onSuccess: unread => client.setQueryData(countKey, unread),
    onSettled: () => client.invalidateQueries({ queryKey: listKey }),
  })
}
