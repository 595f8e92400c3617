import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { eq, sql } from 'drizzle-orm'
import postgres from 'postgres'
import { createTallystick } from 'tallystick-dev/testing'
import { afterAll, expect, onTestFinished, test } from 'vitest'

import { removeFinished } from '../../db/jobs/queries.ts'
import { jobRows } from '../../db/jobs/tables.ts'
import { startConsole } from '../fixtures/console.ts'
import { createDatabase } from '../fixtures/database.ts'
import { temporaryFolder } from '../fixtures/migrations.ts'
import { runOperatorCommand } from '../fixtures/operator-command.ts'
import { app } from './parcels/app.ts'
import { deliver, weigh } from './parcels/jobs.ts'
import { databases, startParcels } from './parcels/service.ts'

const service = await startParcels({})
afterAll(() => service.close())
const { db, enqueue, runDue, attemptsOf, person } = service
const { databaseUrl } = service.services.settings
const hour = () => new Date(Date.now() + 3_600_000)

test('tallystick jobs lists the dead jobs, and runs dead jobs again', async () => {
  const label = randomUUID()
  const id = await enqueue(deliver, { label, then: 'fail' })
  await runDue(hour())
  const run = (...words: string[]) => runOperatorCommand(app, { DATABASE_URL: databaseUrl }, 'jobs', ...words)

  const listed = await run()
  const retried = await run('retry', '--id', id)
  const problems = [
    await run('retry'),
    await run('retry', '--id', 'x'),
    await run('retry', '--id', randomUUID()),
  ]
  await runDue()

  expect(listed.text).toContain('deliver  failed  1')
  expect(listed.text).toMatch(
    new RegExp(`${id}  deliver  .*  3 attempts  The address of ${label} is unknown`),
  )
  expect(retried.text).toBe('Jobs that run again: 1')
  expect(problems.map(({ problem }) => problem)).toEqual([
    'Use --id ID or --queue NAME. For both, run: tallystick jobs',
    'x is not the id of a job.',
    'There is no such dead job. For the ids, run: tallystick jobs',
  ])
  expect((await attemptsOf(label)).map(({ attempt }) => attempt)).toEqual([1, 2, 3, 1])
  const { lines } = await runOperatorCommand(
    app,
    { DATABASE_URL: databaseUrl },
    'audit',
    '--action',
    'jobs.retry',
  )
  expect(lines).toEqual([expect.stringMatching(`jobs.retry  accepted  operator  -  -  deliver ${id}  -$`)])
})

test('the deletion of an account deletes its jobs, and no other ones', async () => {
  const email = `${randomUUID()}@example.com`
  const [ada, bob] = [await person(email), await person()]
  const [hers, his] = [randomUUID(), randomUUID()]
  await ada.parcels.create({ label: hers })
  await bob.parcels.create({ label: his })

  await ada.account.delete({ email })
  await runDue()

  expect(await attemptsOf(hers)).toEqual([])
  expect(await attemptsOf(his)).toHaveLength(1)
})

test.each(Object.entries(databases))(
  'the export of an account lists its jobs, on %s',
  async (_, environment) => {
    const started = await startParcels(environment)
    onTestFinished(() => started.close())
    const [ada, bob] = [await started.person(), await started.person()]
    await ada.parcels.create({ label: 'hers' })
    await bob.parcels.create({ label: 'his' })
    await started.enqueue(deliver, { label: 'nobody' })

    const { jobs } = await ada.account.export()

    const { id } = await ada.account.get()
    expect(jobs).toEqual([
      {
        name: 'deliver',
        state: 'created',
        createdAt: expect.any(Number) as number,
        startsAt: expect.any(Number) as number,
        input: { label: 'hers', userId: id, then: 'end' },
      },
    ])
  },
)

test('the view of tables in the console does not show the jobs', async () => {
  const { client } = await startConsole({}, app)

  expect((await client.data.tables()).map(({ name }) => name)).not.toContain('job')
  for (const table of ['job', 'tallystick_jobs.job'])
    await expect(client.data.rows({ table, filters: [], page: 0 })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
})

test('finished jobs are removed after a day, and dead ones after 14 days', async () => {
  const finish = async (state: 'completed' | 'failed', age: string) => {
    const id = await enqueue(weigh, { label: 'x' })
    const completedOn = sql`now() - ${age}::interval`
    await db.update(jobRows).set({ state, completedOn }).where(eq(jobRows.id, id))
    return id
  }
  const kept = [await finish('completed', '23 hours'), await finish('failed', '13 days')]
  const removed = [await finish('completed', '25 hours'), await finish('failed', '15 days')]

  await removeFinished(db)

  const ids = (await db.select().from(jobRows)).map(({ id }) => id)
  expect(ids).toEqual(expect.arrayContaining(kept))
  for (const id of removed) expect(ids).not.toContain(id)
})

test('enqueue throws if the database has no queue for the job', async () => {
  const other = await createTallystick(app)
  onTestFinished(() => other.close())
  const { enqueue, db } = other.context()
  await db.execute(sql`select tallystick_jobs.delete_queue('weigh')`)

  await expect(enqueue(weigh, { label: 'x' })).rejects.toThrow(
    'The database has no queue for the job weigh. Run: tallystick migrate',
  )
  const run = (...words: string[]) =>
    runOperatorCommand(app, { DATABASE_URL: other.services.settings.databaseUrl }, 'migrate', ...words)
  expect((await run('--check')).lines).toEqual(['jobs/queue_weigh'])
  expect((await run()).lines[0]).toBe('Applied jobs/queue_weigh')
  await expect(enqueue(weigh, { label: 'x' })).resolves.toBeDefined()
})

test('a role without DDL runs jobs', async () => {
  const { url, drop } = await createDatabase('template1')
  const migrated = await createTallystick(app, { DATABASE_URL: url })
  await migrated.close()
  const admin = postgres(url, { max: 1, onnotice: () => undefined })
  const role = `runtime_${randomUUID().replaceAll('-', '')}`
  await admin`create role ${admin(role)} login password 'secret'`
  onTestFinished(async () => {
    await admin`drop owned by ${admin(role)}`
    await admin`drop role ${admin(role)}`
    await admin.end()
    await drop()
  })
  const pages = ['docs/operation.md', 'docs/jobs.md'].map((page) => readFileSync(page, 'utf8')).join('\n')
  for (const [grant] of pages.matchAll(/^grant .*;$/gm))
    await admin.unsafe(grant.replace('tallystick;', `${role};`))
  const own = new URL(url)
  own.username = role
  own.password = 'secret'

  const limited = await createTallystick(app, { DATABASE_URL: own.href })
  onTestFinished(() => limited.close())
  await limited.context().enqueue(deliver, { label: 'x', then: 'fail' })

  expect(await limited.runDueJobs({ until: hour() })).toMatchObject([
    { outcome: 'failed' },
    { outcome: 'failed' },
    { outcome: 'dead' },
  ])
})

/** Adds a waiting job, and one of a queue that the release does not declare, and closes the database. Returns the id of the first. */
async function fill(environment: Record<string, string>) {
  const { context, services, close } = await createTallystick(app, environment)
  const waiting = await context().enqueue(deliver, { label: 'waiting' }, { after: hour() })
  await services.db.execute(sql`select tallystick_jobs.create_queue('formerName', '{"policy":"standard"}')`)
  await services.db.execute(
    sql`insert into tallystick_jobs.job (name, data) values ('formerName', '{"input":{},"meta":[]}')`,
  )
  await close()
  return waiting
}

/** Expects the jobs of `fill`, and runs the waiting one. */
async function expectJobs(environment: Record<string, string>, waiting: string) {
  const target = await createTallystick(app, environment)
  onTestFinished(() => target.close())
  const copied = await target.services.db.select().from(jobRows)
  expect(copied.map(({ name }) => name).sort()).toEqual(['deliver', 'formerName'])
  expect(copied.map(({ id }) => id)).toContain(waiting)
  const attempts = await target.runDueJobs({ until: new Date(hour().getTime() + 60_000) })
  expect(attempts).toContainEqual({ name: 'deliver', id: waiting, outcome: 'completed' })
}

/** The settings of a new database. */
const newServer = async () => {
  const { url, drop } = await createDatabase('template1')
  onTestFinished(drop)
  return { DATABASE_URL: url }
}
const newFolder = () => ({ DATABASE_URL: '', DATA_DIR: temporaryFolder() })

test.each(['--to', '--from'])(
  'tallystick copy %s a server copies the jobs, also of a queue that the release does not declare',
  async (direction) => {
    const [server, folder] = [await newServer(), newFolder()]
    const [source, target] = direction === '--to' ? [folder, server] : [server, folder]
    const waiting = await fill(source)

    const { problem } = await runOperatorCommand(app, folder, 'copy', direction, server.DATABASE_URL)

    expect(problem).toBeUndefined()
    await expectJobs(target, waiting)
  },
)

test('a backup of the embedded database contains the jobs', async () => {
  const [source, target] = [newFolder(), newFolder()]
  const waiting = await fill(source)
  const file = join(temporaryFolder(), 'backup')

  const problems = [
    await runOperatorCommand(app, source, 'backup', file),
    await runOperatorCommand(app, target, 'restore', file),
  ]

  expect(problems.map(({ problem }) => problem)).toEqual([undefined, undefined])
  await expectJobs(target, waiting)
})
