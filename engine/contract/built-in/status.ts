import * as z from 'zod'

import { publicAccess } from '../builders.ts'
import { responseSchemas } from '../schemas.ts'

const Status = z
  .object({ status: z.literal('ok'), service: z.string(), release: z.string() })
  .register(responseSchemas, {
    id: 'Status',
    example: { status: 'ok', service: 'tallystick-1', release: 'local' },
  })

export const status = {
  get: publicAccess
    .meta({ fixedAnswer: true }) // every caller receives the first answer
    .route({
      method: 'GET',
      path: '/api/status',
      summary: 'Report that the service is running',
      description: 'Names the service and its release. Needs no credentials, and reads no data.',
    })
    .output(Status),
}
