/** Editing and deleting messages, and their earlier texts. */
import { useQuery } from '@tanstack/react-query'
import { rest, unwrap } from '../client'
import type { BodyOf } from '../types'
import { keys } from './keys'
import { fetchAllPages } from './pages'

export const editMessage = (messageId: string, body: BodyOf<'/api/v1/messages/{message_id}', 'patch'>) =>
  unwrap(rest.PATCH('/api/v1/messages/{message_id}', { params: { path: { message_id: messageId } }, body }))
/** Deletes a message for everybody. The request outlives a page that is closed. */
export const deleteMessage = (messageId: string, stopRuns = false) =>
  unwrap(
    rest.DELETE('/api/v1/messages/{message_id}', {
      params: { path: { message_id: messageId }, query: { stop_runs: stopRuns } },
      keepalive: true,
    }),
  )
/** The earlier texts of a message, the last one first. `changedAt`: when it was edited or deleted last. */
export const useRevisions = (messageId: string, changedAt: string) =>
  useQuery({
    queryKey: [...keys.revisions(messageId), changedAt],
    queryFn: ({ signal }) =>
      fetchAllPages(query =>
        unwrap(
          rest.GET('/api/v1/messages/{message_id}/revisions', {
            params: { path: { message_id: messageId }, query },
            signal,
          }),
        ),
      ),
  })
