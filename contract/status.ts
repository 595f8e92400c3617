import { z } from 'zod'

import { answers, open } from './base.ts'

export const Status = z
  .object({ status: z.literal('ok'), service: z.string(), release: z.string() })
  .register(answers, { id: 'Status' })

export const status = {
  get: open
    .meta({ constant: true })
    .route({ method: 'GET', path: '/api/status', summary: 'Tell that the service is alive' })
    .output(Status),
}
