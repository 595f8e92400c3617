import * as z from 'zod'

import { audiences } from './audiences.ts'
import { tokenBounds } from '../bounds.ts'
import { sensitive } from '../builders.ts'
import { type RateLimit, scopes } from '../meta.ts'
import { isBlank, requestSchemas, responseSchemas, text, Timestamp } from '../schemas.ts'
import { sessionsTopic } from './sessions.ts'

const CreateToken = z
  .object({
    label: text({ min: 1, max: tokenBounds.label, schema: z.string().trim() })
      .refine((label) => !isBlank(label), 'Must not be blank')
      .meta({ description: 'Shown in the list of apps' }),
    scopes: z.array(z.enum(scopes)).min(1).max(scopes.length),
    audience: z.enum(audiences).default('service').meta({
      description: '`service`: the REST and RPC interfaces. `mcp`: the endpoint for AI agents, `/mcp`',
    }),
    days: z
      .int()
      .min(1)
      .max(tokenBounds.maxDays)
      .default(tokenBounds.defaultDays)
      .meta({ description: 'Lifetime, in days' }),
  })
  .register(requestSchemas, {
    id: 'CreateToken',
    example: { label: 'Backup script', scopes: ['read'], audience: 'service', days: 90 },
  })

const CreatedToken = z
  .object({
    id: z
      .string()
      .meta({ description: 'Identifies the token in the list of apps, and for its revocation there' }),
    token: z.string().meta({ description: 'The bearer token. The service cannot show the token again' }),
    expiresAt: Timestamp,
  })
  .register(responseSchemas, {
    id: 'CreatedToken',
    example: {
      id: '019b7a2e-5c80-7d3f-9a41-6b0c2d8e4f17',
      token: 'tally_x6Y0nq0m7cR4eXw2bTq1u8sVdP5kZJ3hGfLrNiOaWyE',
      expiresAt: 1775037600,
    },
  })

/** OAuth grants and personal tokens, by account. Each grant adds an entry to the audit trail. */
export const grantLimit: RateLimit = {
  name: 'grants',
  points: 60,
  duration: 3600,
  perAccount: true,
  inDatabase: true,
}

export const tokens = {
  create: sensitive
    .meta({ updates: [sessionsTopic], rateLimit: grantLimit, secrets: true, ownPagesOnly: true })
    .errors({
      FORBIDDEN: {
        status: 403,
        message: 'Not permitted during an impersonation, and not from a page of another origin',
      },
      TOO_MANY_TOKENS: { status: 409, message: 'You have the maximum number of tokens. Revoke one first' },
    })
    .route({
      method: 'POST',
      path: '/api/tokens',
      summary: 'Create an access token for programs without a browser',
      description:
        'A token acts as the person, within its scopes, until it expires or is revoked. `apps.list` lists the token under its label, and `apps.revoke` revokes the token.',
    })
    .input(CreateToken)
    .output(CreatedToken),
}
