import * as z from 'zod'

import { MAX_EMAIL } from './bounds.ts'
import { reading, sensitive } from './builders.ts'
import { type RateLimit, scopes } from './meta.ts'
import { requestSchemas, responseSchemas, Success, text, Timestamp } from './schemas.ts'
import { sessionsTopic } from './sessions.ts'
import { ShareInput } from './notes.ts'
import { Task } from './tasks.ts'

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

const { role } = ShareInput.shape

/**
 * All data about a person. The only data from or about other people are the e-mail addresses that the person entered,
 * and the titles of notes that other people share with the person.
 */
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
        number: z.int().meta({ description: 'The id of the note in the first form' }),
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
        byAdministrator: z
          .boolean()
          .meta({ description: 'Whether an administrator impersonated the person' }),
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
  .register(responseSchemas, {
    id: 'AccountExport',
    example: {
      exportedAt: today,
      account: { ...example, role: 'user', ban: null, createdAt: since, updatedAt: since },
      tasks: [],
      notes: [
        {
          id: '019b7a2e-5c80-7d3f-9a41-6b0c2d8e4f17',
          number: 7,
          title: 'Plan',
          body: 'Milk and bread',
          sharedWith: [{ email: 'bob@example.com', role: 'reader', createdAt: today, updatedAt: today }],
          createdAt: today,
          updatedAt: today,
        },
      ],
      notesOfOthers: [],
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

/** The caller enters the e-mail address of the account to confirm the deletion. */
const DeleteAccount = z
  .object({ email: text({ max: MAX_EMAIL, schema: z.string().trim() }) })
  .register(requestSchemas, { id: 'DeleteAccount', example: { email: 'ada@example.com' } })

/** Exports of an account, by account. Each export reads all data of the account. */
const exports: RateLimit = { name: 'exports', points: 5, duration: 3600, personal: true, shared: true }

export const account = {
  get: reading
    .route({
      method: 'GET',
      path: '/api/me',
      summary: 'Read the signed-in account',
      description: 'Returns the account of the caller. The name is empty until the person enters a name.',
    })
    .output(Account),
  export: sensitive
    .meta({ rateLimit: exports, secrets: true })
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
      description:
        'Returns the account, tasks, notes, shares, sessions, apps and audit entries in one answer. A repeated export within an hour may be refused.',
    })
    .output(AccountExport),
  delete: sensitive
    .meta({ updates: [sessionsTopic] })
    .errors({ WRONG_ADDRESS: { status: 400, message: 'This is not the e-mail address of the account' } })
    .route({
      method: 'POST',
      path: '/api/me/delete',
      summary: 'Delete your account and all of its data permanently',
      description: 'The address of the account confirms the deletion. All sessions, tokens and grants end.',
    })
    .input(DeleteAccount)
    .output(Success),
}
