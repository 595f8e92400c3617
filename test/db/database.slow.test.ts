import { sql } from 'drizzle-orm'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { safe } from '../../contract/client.ts'
import * as counter from '../../db/counter.ts'
import type { Connection, Database } from '../../engine/db/connection/database.ts'
import { isOutage } from '../../engine/db/errors.ts'
import * as grants from '../../engine/db/accounts/grants.ts'
import { open } from '../../db/index.ts'
import { legacyNoteRows, noteRows } from '../../db/notes.ts'
import { connectionForLists } from '../../engine/db/pagination.ts'
import { findByToken } from '../../engine/db/accounts/caller-lookup.ts'
import * as sessions from '../../engine/db/accounts/sessions.ts'
import * as tasks from '../../db/tasks.ts'
import { createTallystick, type Tallystick } from '../../src/testing.ts'
import { postgresOfRun } from '../../engine/dev/testing/database.ts'
import { databaseUrl } from '../../engine/dev/testing/database-url.ts'
import { startService } from '../fixtures/service.ts'

const service = await startService()

const input = { taskTitle: 'Write' }
const note = { title: 'Plan', body: '' }

/** Verifies properties that other tests assume, on PostgreSQL and on the embedded database (PGlite). */
describe.each([
  ['PostgreSQL', service.databaseUrl],
  ['PGlite', 'memory:'],
])('on %s', (_, url) => {
  let tallystick: Tallystick

  beforeAll(async () => {
    tallystick = await createTallystick({ DATABASE_URL: url })
  })

  afterAll(() => tallystick.close())

  test('large numbers stay exact, and the counter stops at its limits', async () => {
    const { counter } = tallystick.stranger
    await counter.set({ inputValue: Number.MAX_SAFE_INTEGER - 1 })

    expect(await counter.increment()).toEqual({ count: Number.MAX_SAFE_INTEGER })
    await expect(counter.increment()).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(await counter.get()).toEqual({ count: Number.MAX_SAFE_INTEGER })
  })

  test('parallel increments are all distinct', async () => {
    const { counter } = tallystick.stranger
    await counter.reset()

    const steps = await Promise.all(Array.from({ length: 100 }, () => counter.increment()))

    expect(new Set(steps.map(({ count }) => count)).size).toBe(100)
    expect(await counter.get()).toEqual({ count: 100 })
  })

  test('timestamps, nulls and partial changes are stored exactly', async () => {
    const ada = await tallystick.person()
    const task = await ada.tasks.create({ taskTitle: 'Write 📜 "it"', taskDesc: 'line\r\nline' })

    expect(await ada.tasks.get({ id: task.id })).toEqual(task)
    expect(await ada.tasks.update({ id: task.id, description: null })).toMatchObject({
      title: 'Write 📜 "it"',
      description: null,
    })
    expect(Math.abs(task.createdAt - Date.now() / 1000)).toBeLessThan(30)
  })

  test('a repeated request with the same idempotency key gets the first response', async () => {
    const ada = await tallystick.person()
    const key = { context: { headers: { 'idempotency-key': 'key' } } }

    const tasks = await Promise.all(Array.from({ length: 10 }, () => safe(ada.tasks.create(input, key))))
    const first = await ada.tasks.create(input, key)

    expect(await ada.tasks.list()).toEqual({ tasks: [first], taskCount: 1 })
    for (const { data } of tasks) expect([first, undefined]).toContainEqual(data)
    await expect(ada.notes.create(note, key)).rejects.toMatchObject({ code: 'KEY_REUSED' })
  })

  test('only one of many conditional changes with the same ETag succeeds', async () => {
    const ada = await tallystick.person()
    const { id } = await ada.notes.create(note)
    const seen = { context: { headers: { 'if-match': '"1.0"' } } }

    const outcomes = await Promise.all(
      Array.from({ length: 10 }, () => safe(ada.notes.update({ id, ...note, body: 'new' }, seen))),
    )

    expect(outcomes.filter(({ isSuccess }) => isSuccess)).toHaveLength(1)
  })

  test('an account is exported completely, and deleted', async () => {
    const ada = await tallystick.person()
    const { email } = await ada.account.get()
    const task = await ada.tasks.create({ taskTitle: 'Write' })

    expect(await ada.account.export()).toMatchObject({ account: { email }, tasks: [task], notes: [] })
    expect(await ada.account.delete({ email })).toEqual({ success: true })
    await expect(ada.account.get()).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
  })

  test('sharing a note twice stores one row, which is deleted with the note', async () => {
    const [ada, bob] = [await tallystick.person(), await tallystick.person()]
    const { email } = await bob.account.get()
    const { id } = await ada.notes.create({ title: 'Shared', body: '' })
    await ada.notes.share({ id, email, role: 'reader' })

    expect(await ada.notes.share({ id, email, role: 'editor' })).toMatchObject({ sharedWith: 1 })
    expect(await bob.notes.update({ id, title: 'Edited', body: '' })).toMatchObject({
      mine: false,
      sharedWith: 0,
    })
    expect(await ada.notes.delete({ id })).toEqual({ id })
    expect((await bob.notes.list()).notes).toEqual([])
  })

  test('a stream shows each change, and ends when its session is revoked', async () => {
    const watcher = await tallystick.person('watcher@example.com')
    const elsewhere = await tallystick.person('watcher@example.com')
    const updates = await watcher.live.watch({ topics: ['tasks'] })
    expect((await updates.next()).value).toMatchObject({ topic: 'tasks', state: { taskCount: 0 } })

    await elsewhere.tasks.create(input)
    expect((await updates.next()).value).toMatchObject({
      topic: 'tasks',
      state: { tasks: [{ title: 'Write' }] },
    })

    const { sessions } = await elsewhere.sessions.list()
    const { token = '' } = sessions.find(({ isCurrent }) => !isCurrent) ?? {}
    const ended = updates.next().catch((error: unknown) => error)
    await elsewhere.sessions.revoke({ revokeSessionToken: token })

    expect(await ended).toMatchObject({ code: 'UNAUTHORIZED' })
  })

  test('both forms of notes use one table', async () => {
    const ada = await tallystick.person()
    const { id } = await ada.legacyNotes.create({ newNote: 'First line\nand more' })

    expect((await ada.notes.list()).notes).toMatchObject([
      { title: 'First line', body: 'First line\nand more' },
    ])
    expect(await ada.legacyNotes.delete({ id })).toEqual({ success: true })
    expect((await ada.notes.list()).notes).toEqual([])
  })
})

/** Creates a superuser role with settings such as timeouts. Returns a database URL that contains this role. */
async function makeRole(limits: Record<string, string>) {
  const name = `tallystick_${crypto.randomUUID().replaceAll('-', '')}`
  const admin = postgres(service.databaseUrl, { max: 1, onnotice: () => undefined })
  await admin`create role ${admin(name)} login superuser password 'x'`
  for (const [limit, value] of Object.entries(limits))
    await admin`alter role ${admin(name)} set ${admin(limit)} = ${admin(value)}`
  const url = new URL(service.databaseUrl)
  url.username = name
  url.password = 'x'
  const drop = async () => {
    await admin`drop role ${admin(name)}`
    await admin.end()
  }
  return { url: url.href, drop }
}

/** Runs a query 32 times concurrently, so that every connection of the pool runs the query. */
const queryAll = <Result>(ask: () => PromiseLike<Result>) => Promise.all(Array.from({ length: 32 }, ask))

const nobody = { id: 'nobody', email: '' }

describe('open through a pooler', () => {
  test('leaves no prepared statements on a connection, and keeps the timeouts of its role', async () => {
    const limits = {
      statement_timeout: '2000',
      lock_timeout: '10000',
      idle_in_transaction_session_timeout: '10000',
    }
    const role = await makeRole(limits)
    const { db, close } = await open(role.url, { directUrl: service.databaseUrl })
    const direct = await open(service.databaseUrl)
    const left = (connection: Pick<Connection, 'db'>) =>
      queryAll(() => connection.db.execute(sql`select name from pg_prepared_statements`))

    for (const each of [db, direct.db]) {
      await queryAll(() => counter.get(each))
      await queryAll(() => tasks.taskRows.clear(each, nobody))
      await queryAll(() => tasks.taskRows.insert(each, nobody, { title: 'x' }).catch(() => undefined))
    }

    expect((await left({ db })).flat()).toEqual([])
    expect((await left(direct)).flat()).not.toEqual([])
    await Promise.all([
      expect(db.execute(sql`select pg_sleep(60)`)).rejects.toSatisfy(isOutage),
      expect(db.select({ slept: sql`pg_sleep(60)` }).from(counter.counter)).rejects.toSatisfy(isOutage),
    ])
    await close()
    await direct.close()
    await role.drop()
  })

  test('fails for a role without timeouts, with a message that explains how to set them', async () => {
    const role = await makeRole({ lock_timeout: '200' })

    const refusal: unknown = await open(role.url, { directUrl: service.databaseUrl }).catch(String)

    expect(refusal).toMatch(/alter role \S+ set statement_timeout = 10000;/)
    expect(refusal).toMatch(/alter role \S+ set idle_in_transaction_session_timeout = 10000;/)
    expect(refusal).not.toContain('set lock_timeout')
    await role.drop()
  })
})

describe('open', () => {
  test('PostgreSQL plans frequent reads without their parameters, also if one person has most rows', async () => {
    const { id } = await (await service.person()).account.get()
    const admin = postgres(service.databaseUrl, { max: 1 })
    await admin`insert into tasks (user_id, title) select ${id}, 'x' from generate_series(1, 20000)`
    await admin`analyze tasks`
    const connection = await open(service.databaseUrl)
    const { db } = connection
    const { $replicas: reads = [] } = db as Database & { $replicas?: Database[] }
    const frequent = [
      () => counter.get(db),
      () => findByToken(db, 'unknown'),
      () => grants.find(db, 'unknown'),
      () => tasks.taskRows.list(db, nobody, { limit: 20 }),
      () => tasks.taskRows.list(db, nobody, { limit: 20 }, { status: 'pending' }),
      () => tasks.taskRows.total(db, nobody),
      () => noteRows.list(db, nobody, { limit: 20 }),
      () => legacyNoteRows.list(db, nobody, { limit: 20 }),
      () => sessions.list(db, 'nobody', { limit: 20 }),
    ]

    for (const read of frequent) for (let call = 0; call < 10; call++) await read()
    const fields = { statement: sql<string>`statement`, customPlans: sql`custom_plans`.mapWith(Number) }
    const statements = await Promise.all(
      [...reads, connectionForLists(db)].map((each) =>
        queryAll(() =>
          each
            .select(fields)
            .from(sql`pg_prepared_statements`)
            .where(sql`not from_sql`),
        ),
      ),
    )

    const customPlans = new Map(statements.flat(2).map((each) => [each.statement, each.customPlans]))
    expect(customPlans.size).toBeGreaterThanOrEqual(frequent.length)
    expect([...customPlans].filter(([, plans]) => plans > 0)).toEqual([])
    await connection.close()
    await admin.end()
  })

  test('lets several processes migrate one empty database concurrently', async () => {
    const { url } = postgresOfRun()
    const name = `tallystick_empty_${process.pid}`
    const admin = postgres(url, { max: 1, onnotice: () => undefined })
    await admin`create database ${admin(name)}`

    const opened: Connection[] = await Promise.all(
      Array.from({ length: 4 }, () => open(databaseUrl(url, name))),
    )

    expect(opened).toHaveLength(4)
    for (const { close } of opened) await close()
    await admin`drop database ${admin(name)}`
    await admin.end()
  })
})
