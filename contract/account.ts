import { z } from 'zod'

import { responseSchemas, sensitive, reading, requestSchemas, scopes, text, Success, Timestamp } from './base.ts'
import { ShareInput } from './notes.ts'
import { Task } from './tasks.ts'

export const Account = z
  .object({
    id: z.string(),
    name: z.string(),
    email: z.string(),
    emailVerified: z.boolean(),
  })
  .register(responseSchemas, { id: 'Account' })

const { role } = ShareInput.shape

/** Everything that is kept of a person. Of others no more than the addresses that the person typed. */
export const AccountExport = z
  .object({
    exportedAt: Timestamp,
    account: Account.extend({
      role: z.string(),
      ban: z.object({ reason: z.string().nullable(), expiresAt: Timestamp.nullable() }).nullable(),
      createdAt: Timestamp,
      updatedAt: Timestamp,
    }),
    tasks: z.array(Task),
    notes: z.array(
      z.object({
        id: z.string(),
        number: z.int().meta({ description: 'The id of the first form' }),
        title: z.string(),
        body: z.string(),
        sharedWith: z.array(
          z.object({ email: z.string(), role, createdAt: Timestamp, updatedAt: Timestamp }),
        ),
        createdAt: Timestamp,
        updatedAt: Timestamp,
      }),
    ),
    notesOfOthers: z.array(z.object({ id: z.string(), title: z.string(), role })),
    sessions: z.array(
      z.object({
        id: z.string(),
        ipAddress: z.string().nullable(),
        userAgent: z.string().nullable(),
        byAdministrator: z.boolean().meta({ description: 'An administrator stood in for the person' }),
        lastActive: Timestamp,
        createdAt: Timestamp,
        expiresAt: Timestamp,
      }),
    ),
    apps: z.array(
      z.object({
        id: z.string(),
        clientId: z.string(),
        name: z.string(),
        scopes: z.array(z.enum(scopes)),
        lastActive: Timestamp,
        createdAt: Timestamp,
        expiresAt: Timestamp,
      }),
    ),
    audit: z.array(
      z.object({
        at: Timestamp,
        action: z.string(),
        outcome: z.enum(['accepted', 'refused']),
        actor: z.enum(['self', 'administrator', 'operator', 'app', 'unknown']),
        subject: z.enum(['self', 'other', 'none']),
        ipAddress: z.string().nullable(),
        userAgent: z.string().nullable(),
        detail: z.string().nullable(),
      }),
    ),
  })
  .register(responseSchemas, { id: 'AccountExport' })
export const DeleteAccount = z
  .object({ email: text({ max: 254, schema: z.string().trim() }) })
  .register(requestSchemas, { id: 'DeleteAccount' })

export const account = {
  get: reading
    .route({ method: 'GET', path: '/api/me', summary: 'Read the signed-in account' })
    .output(Account),
  export: sensitive
    .meta({ limit: 'exports' })
    .errors({ TOO_LARGE: { status: 409, message: 'More is kept than one answer may carry; read the lists' } })
    .route({ method: 'GET', path: '/api/me/export', summary: 'Read everything that is kept of you' })
    .output(AccountExport),
  delete: sensitive
    .errors({ WRONG_ADDRESS: { status: 400, message: 'That is not the address of this account' } })
    .route({
      method: 'POST',
      path: '/api/me/delete',
      summary: 'Delete your account and all that is yours, for good',
    })
    .input(DeleteAccount)
    .output(Success),
}
