import { z } from 'zod'

import { answers, reading } from './base.ts'

export const Account = z
  .object({
    id: z.string(),
    name: z.string(),
    email: z.string(),
    emailVerified: z.boolean(),
  })
  .register(answers, { id: 'Account' })

export const account = {
  get: reading
    .route({ method: 'GET', path: '/api/me', summary: 'Read the signed-in account' })
    .output(Account),
}
