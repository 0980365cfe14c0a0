import { useQuery } from '@tanstack/react-query'
import { rest, unwrap } from '../client'
import type { DecideBody } from '../types'
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

/** The row of an approval, with the facts that not all readers of the chat may know. Null: it is not read. */
export const useApproval = (id: string | null) =>
  useQuery({
    queryKey: keys.approval(id ?? ''),
    queryFn: ({ signal }) =>
      unwrap(rest.GET('/api/v1/approvals/{approval_id}', { params: { path: { approval_id: id ?? '' } }, signal })),
    enabled: id !== null,
  })
