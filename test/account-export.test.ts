import { isDeepStrictEqual } from 'node:util'
import postgres from 'postgres'
import { afterAll, describe, expect, test } from 'vitest'
import { z } from 'zod'

import { contract } from '../contract/index.ts'
import { createAccountCalls } from './fixtures/full-account.ts'
import { describeTransports, settingsWithAddress, startService } from './fixtures/service.ts'

const ROOT = 'root@example.com'
const service = await startService({ ...(await settingsWithAddress()), ADMIN_EMAILS: ROOT })
const { post, get, createFullAccount, impersonate } = createAccountCalls(service)
const database = postgres(service.databaseUrl, { max: 2, onnotice: () => undefined })

afterAll(() => database.end())

/** Paths in the export, for columns that do not follow the naming rule in `pathOf`. */
const exported: Record<string, string> = {
  'users.id': 'account.id',
  'users.name': 'account.name',
  'users.email': 'account.email',
  'users.email_verified': 'account.emailVerified',
  'users.role': 'account.role',
  'users.banned': 'account.ban',
  'users.ban_reason': 'account.ban.reason',
  'users.ban_expires': 'account.ban.expiresAt',
  'users.created_at': 'account.createdAt',
  'users.updated_at': 'account.updatedAt',
  'notes.id': 'notes.number',
  'notes.uuid': 'notes.id',
  'note_shares.note_id': 'notes.id',
  'note_shares.email': 'notes.sharedWith.email',
  'note_shares.role': 'notes.sharedWith.role',
  'note_shares.created_at': 'notes.sharedWith.createdAt',
  'note_shares.updated_at': 'notes.sharedWith.updatedAt',
  'sessions.impersonated_by': 'sessions.byAdministrator',
  'sessions.client_id': 'apps.clientId',
  'sessions.scope': 'apps.scopes',
  'sessions.updated_at': 'sessions.lastActive',
  'audit.created_at': 'audit.at',
}

/** The tables and columns that the export omits intentionally, with the reason. `*` means every table. */
const omitted: Record<string, string> = {
  '*.version': 'a row version',
  'users.image': 'never set',
  'sessions.token': 'a credential, or a part of one',
  'sessions.provider': 'the provider of the sign-in, which the entry of the audit trail names',
  'sessions.administrator_session_id': 'belongs to another person',
  'audit.id': 'numbers the entries of all users',
  accounts: 'empty: sign-in uses neither passwords nor other sites',
  verifications: 'codes under a keyed hash, for five minutes',
  oauth_records: 'digests of codes and tokens; their grants are exported',
  oauth_clients: 'apps, which belong to no account: registration is anonymous',
  device_codes: 'requests of apps, for ten minutes; their grants are exported',
  limits: 'counts of requests, for an hour at most',
  rate_limits: 'empty: used by an earlier release',
  counter: 'shared by all users',
  idempotency: 'responses to requests, for a day: the data itself is exported',
  'notes.sharing': 'a version of the shares',
  'note_shares.note_created_at': 'a copy of the time of the note',
  task_counts: 'the numbers of the exported tasks',
}

const camelCase = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())

/**
 * Converts a column to its path in the export: `tasks.created_at` becomes `tasks.createdAt`. The path of a column
 * `user_id` is the path of the list: `tasks.user_id` becomes `tasks`.
 */
const pathOf = (column: string) => exported[column] ?? camelCase(column.replace(/\.user_id$/, ''))

/** Lists the columns of the database that the export must contain, as `table.column`. */
async function listExportableColumns() {
  const columns = await database<{ table: string; column: string }[]>`
    select table_name as table, column_name as column
    from information_schema.columns where table_schema = 'public'`
  return columns.flatMap(({ table, column }) => {
    const name = `${table}.${column}`
    return [table, name, `*.${column}`].some((entry) => entry in omitted) ? [] : [name]
  })
}

const isInContract = (path: string) =>
  path.split('.').reduce<unknown>((schema, key) => {
    const object = unwrap(schema)
    return object instanceof z.ZodObject ? object.shape[key] : undefined
  }, contract.account.export['~orpc'].outputSchema) !== undefined

function unwrap(schema: unknown): unknown {
  if (schema instanceof z.ZodArray) return unwrap(schema.element)
  return schema instanceof z.ZodNullable ? unwrap(schema.unwrap()) : schema
}

const listMissingColumns = async () =>
  (await listExportableColumns()).filter((column) => !isInContract(pathOf(column)))

/** Removes the empty lists: the lists of resources for which `createFullAccount` creates no row. */
const withoutEmptyLists = (data: object) =>
  Object.fromEntries(Object.entries(data).filter(([, value]) => !isDeepStrictEqual(value, [])))

/** Returns the value at a path such as `tasks.title`. If a value is a list, the path continues in its first item. */
const valueAt = (value: unknown, path: string) =>
  path.split('.').reduce<unknown>((from, key) => {
    const first: unknown = Array.isArray(from) ? from[0] : from
    return (first as Record<string, unknown> | undefined)?.[key]
  }, value)

describeTransports(service, ({ person }) => {
  describe('account.export', () => {
    test('contains all stored data of the user', async () => {
      const { email, id, task, note, sharedByBob, app } = await createFullAccount()
      const ada = await person(email, { 'user-agent': 'Another' })

      const data = await ada.account.export()

      const moment = expect.any(Number)
      const times = { lastActive: moment, createdAt: moment, expiresAt: moment }
      expect(withoutEmptyLists(data)).toEqual({
        exportedAt: moment,
        account: {
          id,
          name: 'Ada',
          email,
          emailVerified: true,
          role: 'user',
          ban: null,
          createdAt: moment,
          updatedAt: moment,
        },
        tasks: [task],
        notes: [
          {
            id: note.id,
            number: expect.any(Number),
            title: 'A note',
            body: 'Its body',
            sharedWith: [
              { email: 'reader@example.com', role: 'reader', createdAt: moment, updatedAt: moment },
            ],
            createdAt: moment,
            updatedAt: moment,
          },
        ],
        notesOfOthers: [{ id: sharedByBob.id, title: 'Of Bob', role: 'editor' }],
        notesOfOthersCount: 1,
        sessions: expect.arrayContaining([
          {
            id: expect.any(String),
            ipAddress: '127.0.0.1',
            userAgent: 'A browser',
            byAdministrator: false,
            ...times,
          },
        ]),
        apps: [
          {
            id: expect.any(String),
            clientId: app.id,
            name: 'An app',
            scopes: ['read', 'write'],
            ...times,
          },
        ],
        audit: expect.arrayContaining([
          {
            at: moment,
            action: 'sign-in',
            outcome: 'accepted',
            actor: 'self',
            subject: 'self',
            ipAddress: '127.0.0.1',
            userAgent: 'A browser',
            detail: null,
          },
          expect.objectContaining({ action: 'grant.create', detail: app.id }),
        ]),
      })
    })

    test('contains no credential, and no data of other users except what the user entered', async () => {
      const { email, cookie, tokens, bob } = await createFullAccount()
      const other = await bob.account.get()
      const ada = await person(email)

      const text = JSON.stringify(await ada.account.export())

      const { sessions } = await ada.sessions.list()
      for (const secret of [
        cookie,
        tokens.access_token,
        tokens.refresh_token,
        ...sessions.map(({ token }) => token),
      ])
        expect(text).not.toContain(secret)
      for (const foreign of [other.id, other.email, 'Between us']) expect(text).not.toContain(foreign)
    })

    test('is empty for a new account', async () => {
      const ada = await person()

      expect(await ada.account.export()).toMatchObject({ tasks: [], notes: [], notesOfOthers: [], apps: [] })
    })
  })
})

describe('an export', () => {
  test('contains every column of the database, or omits the column for a reason', async () => {
    const missing = await listMissingColumns()

    const advice =
      'Add the columns to `exportPart` in the contract of the resource, or to `omitted` with the reason'
    expect(missing, advice).toEqual([])
  })

  test('the check finds a new table or column', async () => {
    await database`create table diaries (user_id text)`
    await database`alter table tasks add column due timestamptz`
    const missing = await listMissingColumns()
    await database`drop table diaries`
    await database`alter table tasks drop column due`

    expect(missing).toEqual(expect.arrayContaining(['diaries.user_id', 'tasks.due']))
  })

  test('has a value at the path of each column', async () => {
    const { ada, id } = await createFullAccount()
    await database`update users set banned = true, ban_reason = 'Why', ban_expires = '2020-01-01' where id = ${id}`
    const data = await ada.account.export()

    const present = withoutEmptyLists(data)
    const paths = (await listExportableColumns())
      .map(pathOf)
      .filter((path) => (path.split('.')[0] ?? '') in present)
    expect(paths.filter((path) => valueAt(data, path) === undefined)).toEqual([])
  })

  test('omits the table of other sign-in methods, which stays empty', async () => {
    await createFullAccount()

    expect(await database`select * from accounts`).toEqual([])
  })

  test('shows an impersonation without the address and browser of the administrator', async () => {
    const { cookie, id } = await createFullAccount()
    await impersonate(id, await service.signIn(ROOT))

    const { body } = await get('/api/me/export', cookie)

    const impersonations = (body as { sessions: { byAdministrator: boolean }[] }).sessions.filter(
      ({ byAdministrator }) => byAdministrator,
    )
    expect(impersonations).toMatchObject([{ ipAddress: null, userAgent: null }])
  })

  test('contains lists of any length completely', async () => {
    const { ada, id } = await createFullAccount()
    await database`insert into tasks (user_id, title) select ${id}, 'x' from generate_series(1, 3000)`

    const { tasks } = await ada.account.export()

    expect(tasks).toHaveLength(3001)
  })

  test('is limited by its size as JSON, where a control character takes six bytes', async () => {
    const { ada, id } = await createFullAccount()
    await database`
      insert into tasks (user_id, title, description)
      select ${id}, 'x', repeat(chr(1), 10000) from generate_series(1, 300)`

    await expect(ada.account.export()).rejects.toMatchObject({ code: 'TOO_LARGE', status: 409 })
  })

  test('is neither cached nor compressed over REST and RPC', async () => {
    const { cookie } = await createFullAccount()

    const answers = [await get('/api/me/export', cookie), await post('/rpc/account/export', {}, cookie)]

    for (const { status, headers } of answers)
      expect([status, headers.get('cache-control')]).toEqual([200, 'no-store, no-transform'])
  })
})
