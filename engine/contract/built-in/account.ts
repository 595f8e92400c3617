import * as z from 'zod'

import { MAX_EMAIL } from '../bounds.ts'
import { reading, sensitive } from '../builders.ts'
import type { DataOfAll, ExportPart, ExportParts } from '../export-part.ts'
import { type RateLimit, scopes } from '../meta.ts'
import { requestSchemas, responseSchemas, Success, text, Timestamp } from '../schemas.ts'
import { sessionsTopic } from './sessions.ts'

const example = {
  id: 'kYbUyxwCzlFgDnHaVtQe3Rj8PmS0iO5L',
  name: 'Ada',
  email: 'ada@example.com',
  emailVerified: true,
}
const [since, today] = [1767175200, 1767261600]

export const Account = z
  .object({
    id: z.string(),
    name: z.string(),
    email: z.string(),
    emailVerified: z.boolean(),
  })
  .register(responseSchemas, { id: 'Account', example })

const accountShape = {
  exportedAt: Timestamp,
  account: Account.extend({
    role: z.string(),
    ban: z.object({ reason: z.string().nullable(), expiresAt: Timestamp.nullable() }).nullable(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  }),
}

/** The jobs about the person, which only an application with such jobs has. */
const jobShape = {
  jobs: z
    .array(
      z.object({
        name: z.string(),
        state: z.enum(['created', 'retry', 'active', 'completed', 'cancelled', 'failed']),
        createdAt: Timestamp,
        startsAt: Timestamp,
        input: z.unknown().optional(),
      }),
    )
    .optional(),
}

/** The connections with sign-in providers, which only an application with providers has. */
const connectionShape = {
  connections: z.array(z.object({ provider: z.string(), createdAt: Timestamp })).optional(),
}

const accessShape = {
  sessions: z.array(
    z.object({
      id: z.string(),
      ipAddress: z.string().nullable(),
      userAgent: z.string().nullable(),
      byAdministrator: z.boolean().meta({ description: 'Whether an administrator impersonated the person' }),
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
}

/** All data about a person. */
const createExport = (parts: readonly ExportPart[]) =>
  z
    .object({
      ...accountShape,
      ...Object.fromEntries(parts.flatMap(({ shape }) => Object.entries(shape))),
      ...jobShape,
      ...connectionShape,
      ...accessShape,
    })
    .register(responseSchemas, {
      id: 'AccountExport',
      example: {
        exportedAt: today,
        account: { ...example, role: 'user', ban: null, createdAt: since, updatedAt: since },
        ...Object.fromEntries(parts.flatMap(({ example }) => Object.entries(example))),
        sessions: [],
        apps: [],
        audit: [
          {
            at: since,
            action: 'sign-in',
            outcome: 'accepted',
            actor: 'self',
            subject: 'self',
            ipAddress: '203.0.113.7',
            userAgent: null,
            detail: null,
          },
        ],
      },
    })

type AccountExport<Parts extends ExportParts> = z.output<
  z.ZodObject<typeof accountShape & typeof jobShape & typeof connectionShape & typeof accessShape>
> &
  DataOfAll<Parts>

/** `~parts` exists only in the type, for `ExportPartsOf`: the compiler cannot derive the parts from the data of the export. */
type AccountExportSchema<Parts extends ExportParts> = z.ZodType<
  AccountExport<Parts>,
  AccountExport<Parts>
> & {
  readonly '~parts'?: Parts
}

/** The parts of the export that a contract of the account declares. */
export type ExportPartsOf<Account extends ReturnType<typeof accountContract<ExportParts>>> =
  NonNullable<Account['export']['~orpc']['outputSchema']> extends {
    readonly '~parts'?: infer Parts extends ExportParts
  }
    ? Parts
    : never

/** The caller enters the e-mail address of the account to confirm the deletion. */
const DeleteAccount = z
  .object({ email: text({ max: MAX_EMAIL, schema: z.string().trim() }) })
  .register(requestSchemas, { id: 'DeleteAccount', example: { email: 'ada@example.com' } })

/** Exports of an account, by account. Each export reads all data of the account. */
const exportLimit: RateLimit = {
  name: 'exports',
  points: 5,
  duration: 3600,
  perAccount: true,
  inDatabase: true,
}

const contentsOf = (parts: ExportParts) =>
  Object.values(parts)
    .flatMap(({ contents }) => contents)
    .join(', ')

const sharedItemsErrors = {
  HAS_SHARED_ITEMS: {
    status: 409,
    message: 'Other people can see items of this account; delete these items, or remove the people, first',
    data: z.object({
      resources: z.array(z.string()).meta({ description: 'The names of the resources with the items' }),
    }),
  },
}

/**
 * The contract of the account. `parts` has the parts of the export by the name of the resource. `grantsAccess` is whether
 * people can share items. The cast stays here: callers see the types of the parts.
 */
export const accountContract = <const Parts extends ExportParts>(parts: Parts, grantsAccess: boolean) => ({
  get: reading
    .route({
      method: 'GET',
      path: '/api/me',
      summary: 'Read the signed-in account',
      description: 'Returns the account of the caller. The name is empty until the person enters a name.',
    })
    .output(Account),
  export: sensitive
    .meta({ rateLimit: exportLimit, secrets: true, exports: Object.keys(parts) })
    .errors({
      TOO_LARGE: {
        status: 409,
        message: 'The export exceeds the size limit of a response; read the lists instead',
      },
    })
    .route({
      method: 'GET',
      path: '/api/me/export',
      summary: 'Export all data about you',
      description: `Returns the account, ${contentsOf(parts)}, sessions, apps and audit entries in one answer. A repeated export within an hour may be refused.`,
    })
    .output(createExport(Object.values(parts)) as unknown as AccountExportSchema<Parts>),
  delete: sensitive
    .meta({ updates: [sessionsTopic] })
    .errors({
      WRONG_ADDRESS: { status: 400, message: 'This is not the e-mail address of the account' },
      // The types have the error in every application, so that the engine can throw it.
      ...((grantsAccess ? sharedItemsErrors : {}) as typeof sharedItemsErrors),
    })
    .route({
      method: 'POST',
      path: '/api/me/delete',
      summary: 'Delete your account and all of its data permanently',
      description: 'The address of the account confirms the deletion. All sessions, tokens and grants end.',
    })
    .input(DeleteAccount)
    .output(Success),
})
