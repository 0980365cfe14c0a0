import { useQueries, useQuery } from '@tanstack/react-query'
import { rest, unwrap } from '../client'
import type { BodyOf, DecideBody } from '../types'
import { useAction } from './action'
import { keys } from './keys'

export type Decision = Pick<DecideBody, 'decision'> & Partial<DecideBody>

/** Decides about a call that waits, or answers a question. The result arrives as a frame, for everybody in the chat. */
export const decideApproval = (id: string, decision: Decision) =>
  unwrap(
    rest.POST('/api/v1/approvals/{approval_id}/decide', {
      params: { path: { approval_id: id } },
      body: { note: '', answer: '', ...decision },
    }),
  )

type EqualCallsDecision = BodyOf<'/api/v1/boards/{board_id}/approvals/{approval_id}/decide', 'post'>

/** Decides about a call that waits in a task of a board, and in the same way about the equal calls of its other tasks. */
export const useDecideEqualCalls = (boardId: string, onError: (error: Error) => void) =>
  useAction({
    mutationFn: ({ id, ...body }: EqualCallsDecision & { id: string }) =>
      unwrap(
        rest.POST('/api/v1/boards/{board_id}/approvals/{approval_id}/decide', {
          params: { path: { board_id: boardId, approval_id: id } },
          body,
        }),
      ),
    onError,
  })

const approvalQuery = (id: string) => ({
  queryKey: keys.approval(id),
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    unwrap(rest.GET('/api/v1/approvals/{approval_id}', { params: { path: { approval_id: id } }, signal })),
})

/** The row of an approval, with the facts that not all readers of the chat may know. Null: it is not read. */
export const useApproval = (id: string | null) => useQuery({ ...approvalQuery(id ?? ''), enabled: id !== null })

/** Returns the rows of approvals in the order of their ids; undefined for one that is not loaded. */
export const useApprovals = (ids: readonly string[]) =>
  useQueries({ queries: ids.map(approvalQuery), combine: queries => queries.map(query => query.data) })
