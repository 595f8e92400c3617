import { randomUUID } from 'node:crypto'

import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { Jobs } from '../../app/job.ts'
import { jobRows } from '../../db/jobs/tables.ts'
import { createContext } from '../../guard/authentication.ts'
import { runAttempt } from '../../jobs/attempt.ts'
import { createJobs } from '../../jobs/index.ts'
import type { Services } from '../../http/server/services.ts'
import { createQueues } from '../../jobs/queues.ts'
import { deliver, greet, sweep, weigh } from './parcels/jobs.ts'
import { databases, startParcels } from './parcels/service.ts'

/** Creates the jobs of another instance. */
const createOnly = (services: Services, jobs: Jobs) =>
  createJobs({ ...services, app: { ...services.app, jobs } }, () => Promise.resolve())

const reject = () => {
  throw new Error('no person')
}

const newLabel = () => `Parcel ${randomUUID()}`
const seconds = (count: number) => new Date(Date.now() + count * 1000)

describe.each(Object.entries(databases))('on %s', (_, environment) => {
  let started: ReturnType<typeof startParcels>
  beforeAll(() => (started = startParcels(environment)))
  afterAll(async () => (await started).close())

  describe('enqueue in a transaction', () => {
    test('runs the job after the commit', async () => {
      const { person, runDue, attemptsOf } = await started
      const ada = await person()
      const label = newLabel()

      await ada.parcels.create({ label })
      const attempts = await runDue()

      expect(attempts).toMatchObject([{ name: 'deliver', outcome: 'completed' }])
      expect(await attemptsOf(label)).toMatchObject([{ attempt: 1 }])
    })

    test('never runs the job after a rollback', async () => {
      const { person, runDue, attemptsOf } = await started
      const ada = await person()
      const label = newLabel()

      await expect(ada.parcels.create({ label, isRefused: true })).rejects.toMatchObject({ code: 'REFUSED' })
      await runDue()

      expect(await attemptsOf(label)).toEqual([])
      expect(await ada.parcels.list()).toEqual({ parcels: [] })
    })

    test('adds one job for repeated calls with Idempotency-Key', async () => {
      const { person, runDue, attemptsOf } = await started
      const ada = await person()
      const label = newLabel()
      const keyed = { context: { headers: { 'idempotency-key': randomUUID() } } }

      const first = await ada.parcels.create({ label }, keyed)
      const again = await ada.parcels.create({ label }, keyed)
      await runDue()

      expect(again).toEqual(first)
      expect(await attemptsOf(label)).toHaveLength(1)
    })

    test('adds no job if If-Match does not match', async () => {
      const { person, runDue, attemptsOf } = await started
      const ada = await person()
      const { id } = await ada.parcels.create({ label: newLabel() })
      const [refused, accepted] = [newLabel(), newLabel()]
      const matching = (tag: string) => ({ context: { headers: { 'if-match': tag } } })

      await expect(ada.parcels.update({ id, label: refused }, matching('"7"'))).rejects.toMatchObject({
        code: 'PRECONDITION_FAILED',
      })
      await ada.parcels.update({ id, label: accepted }, matching('"1"'))
      await runDue()

      expect(await attemptsOf(refused)).toEqual([])
      expect(await attemptsOf(accepted)).toHaveLength(1)
    })

    test('undoes the jobs of an inner transaction alone', async () => {
      const { services, runDue, attemptsOf } = await started
      const [outer, inner] = [newLabel(), newLabel()]
      const { transaction } = createContext(services, {})

      await transaction(async (tx) => {
        await tx.enqueue(weigh, { label: outer })
        await tx
          .transaction(async ({ enqueue }) => {
            await enqueue(weigh, { label: inner })
            throw new Error('Undo')
          })
          .catch(() => undefined)
      })
      await runDue()

      expect(await attemptsOf(outer)).toHaveLength(1)
      expect(await attemptsOf(inner)).toEqual([])
    })

    test('refuses the outer connection', async () => {
      const { services } = await started
      const outer = createContext(services, {})
      const message = /outside of the transaction/

      await outer.transaction(async () => {
        await expect(outer.db.select().from(jobRows)).rejects.toThrow(message)
        await expect(outer.enqueue(weigh, { label: 'x' })).rejects.toThrow(message)
        await expect(outer.transaction(() => Promise.resolve())).rejects.toThrow(message)
        await expect(outer.db.transaction(() => Promise.resolve())).rejects.toThrow(message)
      })

      await expect(outer.db.select().from(jobRows).limit(1)).resolves.toBeDefined()
    })
  })

  describe('enqueue', () => {
    test('refuses an undeclared job, a bad input, a large input, and a time after 9999', async () => {
      const { enqueue } = await started
      const declared = { label: 'x' }

      await expect(enqueue({ ...weigh }, declared)).rejects.toThrow('not declared')
      await expect(enqueue(weigh, { label: 7 })).rejects.toThrow(/expected string/)
      await expect(enqueue(weigh, { label: 'x'.repeat(70_000) })).rejects.toThrow('at most 65536')
      await expect(enqueue(weigh, { label: 'a\0b' })).rejects.toThrow('NUL')
      await expect(enqueue(weigh, declared, { after: new Date(NaN) })).rejects.toThrow('before 9999')
      await expect(enqueue(weigh, declared, { after: new Date(8e15) })).rejects.toThrow('before 9999')
    })

    test('adds one job for each key, also after the end of the job', async () => {
      const { enqueue, runDue, attemptsOf } = await started
      const label = newLabel()

      const ids = await Promise.all([1, 2, 3].map(() => enqueue(weigh, { label }, { key: label })))
      await runDue()
      const again = await enqueue(weigh, { label }, { key: label })
      await runDue()

      expect(new Set([...ids, again])).toHaveLength(1)
      expect(await attemptsOf(label)).toHaveLength(1)
    })

    test('runs a job at its time, and a time of the past at once', async () => {
      const { enqueue, runDue, attemptsOf } = await started
      const [later, past] = [newLabel(), newLabel()]

      await enqueue(weigh, { label: later }, { after: seconds(3600) })
      await enqueue(weigh, { label: past }, { after: new Date(0) })
      await runDue()

      expect(await attemptsOf(past)).toHaveLength(1)
      expect(await attemptsOf(later)).toEqual([])
      await runDue(seconds(3601))
      expect(await attemptsOf(later)).toHaveLength(1)
    })

    test('keeps the types that JSON lacks', async () => {
      const { enqueue, runDue, attemptsOf } = await started
      const label = newLabel()

      await enqueue(deliver, { label, until: new Date(0) })
      await runDue()

      expect(await attemptsOf(label)).toHaveLength(1)
    })
  })

  describe('a failed attempt', () => {
    test('is repeated, and the job is dead after its last attempt', async () => {
      const { db, enqueue, runDue, attemptsOf } = await started
      const label = newLabel()

      const id = await enqueue(deliver, { label, then: 'fail' })
      const outcomes = (await runDue(seconds(3600))).map(({ outcome }) => outcome)

      expect(outcomes).toEqual(['failed', 'failed', 'dead'])
      expect((await attemptsOf(label)).map(({ attempt }) => attempt)).toEqual([1, 2, 3])
      const [dead] = await db.select().from(jobRows).where(eq(jobRows.id, id))
      expect(dead).toMatchObject({
        state: 'failed',
        output: { message: `The address of ${label} is unknown` },
      })
    })

    test('ends at its timeout, also if the handler ignores the signal', { timeout: 30_000 }, async () => {
      const { enqueue, runDue } = await started
      await enqueue(deliver, { label: newLabel(), then: 'hang' })
      await enqueue(deliver, { label: newLabel(), then: 'ignore' })

      const attempts = await runDue()

      expect(attempts).toMatchObject([{ outcome: 'failed' }, { outcome: 'failed' }])
      expect(attempts.map(({ error }) => (error as Error).message)).toEqual(
        Array.from({ length: 2 }, () => 'The attempt has reached its timeout of 2 s'),
      )
      await runDue(seconds(3600))
    })
  })

  test('an error of the database is reported, and the worker continues afterwards', async () => {
    const { services, db, enqueue, runDue, attemptsOf } = await started
    const label = newLabel()
    await enqueue(weigh, { label })
    const { createWorker } = await createOnly(services, { weigh })
    const { fetch } = await createQueues({ weigh })
    const lines: string[] = []
    const log = services.log.child({})
    log.error = (_: unknown, message?: string) => lines.push(message ?? '')
    const worker = createWorker({ ...services, log })

    await db.execute(sql`alter table tallystick_jobs.job rename to hidden`)
    await expect(runDue()).rejects.toThrow()
    await expect(fetch(db, 'weigh', 1)).rejects.toThrow()
    worker.start()
    await expect.poll(() => lines).toEqual(['jobs cannot be fetched; trying again'])
    await db.execute(sql`alter table tallystick_jobs.hidden rename to job`)

    await expect.poll(() => attemptsOf(label)).toHaveLength(1)
    await worker.stop()
  })

  test('an attempt that ends after the next one has begun does not change the job', async () => {
    const { services, db, enqueue } = await started
    const queues = await createQueues({ weigh })
    const id = await enqueue(weigh, { label: newLabel() })
    const isSame = eq(jobRows.id, id)
    const fetched = (await queues.fetch(db, 'weigh', 10)).find((job) => job.id === id)
    if (!fetched) throw new Error('The job was not fetched')
    await db.update(jobRows).set({ retryCount: 1 }).where(isSame)

    await runAttempt(services, queues, weigh, fetched, new AbortController())

    expect(await db.select().from(jobRows).where(isSame)).toMatchObject([{ state: 'active', retryCount: 1 }])
    await db.delete(jobRows).where(isSame)
  })

  describe('a schedule', () => {
    const nextYear = new Date().getUTCFullYear() + 1
    // A new schedule begins at the first run.
    beforeAll(async () => (await started).runDue())

    test('runs each time once, in its time zone', async () => {
      const { runDue, attemptsOf } = await started
      // Half past two in Berlin, in winter and in summer.
      const times = [new Date(Date.UTC(nextYear, 0, 10, 1, 30)), new Date(Date.UTC(nextYear, 6, 10, 0, 30))]

      for (const time of times) for (const until of [time, time]) await runDue(until)

      // Earlier tests may run jobs at a time of today.
      const runs = (await attemptsOf('sweep')).map(({ scheduledFor }) => scheduledFor)
      expect(runs.filter((run) => run && run >= new Date(nextYear, 0, 5))).toEqual(times)
    })

    test('runs each time once on several instances', async () => {
      const { services, runDue, attemptsOf } = await started
      const time = new Date(Date.UTC(nextYear, 9, 10, 0, 30))
      const others = [1, 2, 3].map(() => createOnly(services, { sweep }))
      const workers = (await Promise.all(others)).map(({ createWorker }) => createWorker(services))

      await Promise.all([runDue(time), ...workers.map((worker) => worker.runDue(time))])

      const runs = (await attemptsOf('sweep')).map(({ scheduledFor }) => scheduledFor)
      expect(runs.filter((run) => run?.getTime() === time.getTime())).toHaveLength(1)
    })

    test('runs missed times once, or skips the times', async () => {
      const { runDue, attemptsOf } = await started
      await runDue(new Date(Date.UTC(nextYear + 1, 0, 1, 12, 0)))
      const before = { sweep: await attemptsOf('sweep'), greet: await attemptsOf('greet') }

      await runDue(new Date(Date.UTC(nextYear + 1, 0, 9, 12, 10)))

      expect(await attemptsOf('sweep')).toHaveLength(before.sweep.length + 1)
      expect(await attemptsOf('greet')).toHaveLength(before.greet.length)
      await runDue(new Date(Date.UTC(nextYear + 1, 0, 9, 13, 0, 30)))
      expect(await attemptsOf('greet')).toHaveLength(before.greet.length + 1)
    })

    test('with an error does not stop the others', async () => {
      const { services } = await started
      const failing = { ...sweep, person: () => reject() }
      const worker = (await createOnly(services, { sweep: failing, greet })).createWorker(services)
      const time = new Date(Date.UTC(nextYear + 2, 0, 1, 1))

      await expect(worker.runDue(time)).rejects.toThrow('no person')

      const scheduled = await services.db.select().from(jobRows).where(eq(jobRows.name, 'greet'))
      expect(scheduled.map(({ data }) => data?.scheduledFor)).toContain(time.toISOString())
    })
  })
})
