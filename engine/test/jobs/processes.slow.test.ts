import { randomUUID } from 'node:crypto'

import { eq, sql } from 'drizzle-orm'
import { expect, onTestFinished, test } from 'vitest'
import { createTallystick } from 'tallystick-dev/testing'

import { jobRows } from '../../db/jobs/tables.ts'
import { createDatabase } from '../fixtures/database.ts'
import { temporaryFolder } from '../fixtures/migrations.ts'
import { app } from './parcels/app.ts'
import { deliveries } from './parcels/db.ts'
import { deliver, haul, weigh } from './parcels/jobs.ts'
import { startProcess } from './parcels/process.ts'

type Environment = Record<string, string>

/** Functions that return the settings of a new database, which is removed after the test. */
const databases: Record<string, () => Promise<Environment>> = {
  'a server': async () => {
    const { url, drop } = await createDatabase('template1')
    onTestFinished(drop)
    return { DATABASE_URL: url, DATA_DIR: temporaryFolder() }
  },
  'the embedded database': () => Promise.resolve({ DATABASE_URL: '', DATA_DIR: temporaryFolder() }),
}

/** Opens a database without a worker, runs `work`, and closes the database. */
async function withDatabase<Result>(
  environment: Environment,
  work: (service: Awaited<ReturnType<typeof createTallystick>>) => Promise<Result>,
) {
  const service = await createTallystick(app, environment)
  try {
    return await work(service)
  } finally {
    await service.close()
  }
}

const readAttempts = (environment: Environment) =>
  withDatabase(environment, ({ services: { db } }) => db.select().from(deliveries).orderBy(deliveries.id))

const twoWorkers = { WORKERS: '2', BASE_URL: 'http://127.0.0.1' }

test.each(Object.entries(databases))(
  'a job of a killed process runs again, on %s',
  { timeout: 120_000 },
  async (_, createDatabaseOfTest) => {
    const settings = await createDatabaseOfTest()
    const label = randomUUID()
    await withDatabase(settings, ({ context }) => context().enqueue(deliver, { label, then: 'hang' }))

    const killed = startProcess(settings)
    await killed.see({ label, attempt: 1 })
    await killed.kill('SIGKILL')
    const next = startProcess(settings)
    await next.see({ label, attempt: 2 })
    await next.kill('SIGTERM')

    const [first, second] = await readAttempts(settings)
    expect(first?.process).toBe(killed.pid)
    expect(second?.process).toBe(next.pid)
  },
)

test.each(Object.entries(databases))(
  'a process that stops returns its jobs without an attempt, on %s',
  { timeout: 120_000 },
  async (_, createDatabaseOfTest) => {
    const settings = await createDatabaseOfTest()
    const label = randomUUID()
    const id = await withDatabase(settings, ({ context }) => context().enqueue(haul, { label }))

    const stopped = startProcess(settings)
    await stopped.see({ label, attempt: 1 })
    await stopped.kill('SIGTERM')

    await stopped.see({ job: 'haul', msg: 'job released, because the instance stops' })
    await withDatabase(settings, async ({ services: { db } }) => {
      const [job] = await db.select().from(jobRows).where(eq(jobRows.id, id))
      expect(job).toMatchObject({ state: 'retry', retryCount: 0, startedOn: null })
    })
    const next = startProcess(settings)
    await next.see({ label, attempt: 1 })
  },
)

test('many instances run each job once', { timeout: 120_000 }, async () => {
  const settings = (await databases['a server']?.()) ?? {}
  const labels = Array.from({ length: 300 }, (_, index) => `Parcel ${index}`)
  const service = await createTallystick(app, settings)
  onTestFinished(() => service.close())
  const { db } = service.services
  const processes = [
    startProcess(settings),
    startProcess({ ...settings, DATA_DIR: temporaryFolder(), ...twoWorkers }),
  ]
  for (const { start } of processes) await start()
  await service.context().transaction(async ({ enqueue }) => {
    for (const label of labels) await enqueue(weigh, { label })
  })

  const waiting = () => db.$count(jobRows, sql`${jobRows.state} < 'completed'`)
  await expect.poll(waiting, { timeout: 60_000 }).toBe(0)

  const attempts = await db.select().from(deliveries)
  expect(attempts.map(({ label }) => label).sort()).toEqual(labels.sort())
  expect(new Set(attempts.map((attempt) => attempt.process)).size).toBeGreaterThan(1)
})

test('a job that kills its process is dead after its last attempt', { timeout: 120_000 }, async () => {
  const settings = (await databases['a server']?.()) ?? {}
  const service = await createTallystick(app, settings)
  onTestFinished(() => service.close())
  const { db } = service.services
  const label = randomUUID()
  const id = await service.context().enqueue(deliver, { label, then: 'crash' })

  startProcess({ ...settings, ...twoWorkers })
  const readState = async () => (await db.select().from(jobRows).where(eq(jobRows.id, id))).at(0)?.state
  await expect.poll(readState, { timeout: 60_000 }).toBe('failed')

  const attempts = await db.select().from(deliveries).where(eq(deliveries.label, label))
  expect(attempts.map(({ attempt }) => attempt)).toEqual([1, 2, 3])
})
