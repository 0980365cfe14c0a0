import { rest, unwrap } from '../client'
import type { DecideBody } from '../types'

export type Decision = Pick<DecideBody, 'decision'> & Partial<DecideBody>

/** Decides about a call that waits, or answers a question. The result arrives as a frame, for everybody in the chat. */
export const decideApproval = (id: string, decision: Decision) =>
  unwrap(
    rest.POST('/api/v1/approvals/{approval_id}/decide', {
      params: { path: { approval_id: id } },
      body: { note: '', answer: '', ...decision },
    }),
  )
