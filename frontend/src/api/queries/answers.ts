/** Other answers of an agent to the same message. */
import { rest, unwrap } from '../client'

export const requestOtherAnswer = (id: string) =>
  unwrap(rest.POST('/api/v1/runs/{run_id}/other-answer', { params: { path: { run_id: id } } }))
export const chooseAnswer = (id: string) =>
  unwrap(rest.PUT('/api/v1/runs/{run_id}/chosen', { params: { path: { run_id: id } } }))
