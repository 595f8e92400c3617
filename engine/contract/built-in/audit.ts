import * as z from 'zod'

import { type AuditAction, auditActions, auditOutcomes, type DeclaredAction } from '../audit-actions.ts'
import { MAX_EMAIL } from '../bounds.ts'
import { administrative } from '../builders.ts'
import { Page, responseSchemas, text, Timestamp } from '../schemas.ts'

/** A person, an app, an operator, or the pseudonym of a deleted person. */
const Party = z.object({
  id: z.string().meta({
    description:
      'The id of an account, `operator`, `app:` and the id of an app, or `deleted:` and a pseudonym',
  }),
  email: z.string().nullable().meta({ description: 'The address, if the id is the id of an account' }),
})

const ada = { id: 'kYbUyxwCzlFgDnHaVtQe3Rj8PmS0iO5L', email: 'ada@example.com' }
const example = {
  id: 7,
  at: 1767261600,
  action: 'sign-in',
  outcome: 'accepted' as const,
  actor: ada,
  subject: ada,
  ipAddress: '203.0.113.7',
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  browser: 'Firefox',
  os: 'Linux',
  detail: null,
}

/** An entry of the audit trail. `actor` has acted, and `subject` is the affected account. */
const AuditEntry = z
  .object({
    id: z.int(),
    at: Timestamp,
    action: z.string(),
    outcome: z.enum(auditOutcomes),
    actor: Party.nullable(),
    subject: Party.nullable(),
    ipAddress: z.string().nullable(),
    userAgent: z.string().nullable(),
    browser: z.string(),
    os: z.string(),
    detail: z.string().nullable(),
  })
  .register(responseSchemas, { id: 'AuditEntry', example })
const AuditList = z
  .object({ entries: z.array(AuditEntry) })
  .register(responseSchemas, { id: 'AuditList', example: { entries: [example] } })

const Person = text({ max: MAX_EMAIL, schema: z.string().trim() }).meta({
  description: 'Only entries that concern the account with this e-mail address',
  examples: ['ada@example.com'],
})
const Outcome = z.enum(auditOutcomes).meta({ description: 'Only entries with this outcome' })

const createAction = (declared: readonly DeclaredAction[]): z.ZodType<AuditAction | DeclaredAction> =>
  z.enum([...auditActions, ...declared]).meta({ description: 'Only entries of this action' })

/** The contract of the audit trail. `declared` has the actions that the application declares. */
export const auditContract = (declared: readonly DeclaredAction[]) => ({
  list: administrative
    .meta({ secrets: true })
    .route({
      method: 'GET',
      path: '/api/audit',
      summary: 'List the audit trail, newest first',
      description:
        'Only administrators can read the audit trail: sign-ins, grants, changes of roles, impersonations and deletions.',
    })
    .input(
      z
        .object({
          person: Person.optional(),
          action: createAction(declared).optional(),
          outcome: Outcome.optional(),
          ...Page.shape,
        })
        .optional(),
    )
    .output(AuditList),
})
