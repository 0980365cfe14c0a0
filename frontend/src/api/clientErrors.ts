/** Reports errors of this browser to the operator of the server. */

import { rest } from './client'
import type { BodyOf } from './types'

export type ClientError = BodyOf<'/api/v1/client-errors', 'post'>

export const reportClientError = (body: ClientError) => rest.POST('/api/v1/client-errors', { body })
