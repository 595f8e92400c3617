import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

import { sql } from 'drizzle-orm'
import { defineApp, job } from 'tallystick'
import { createTallystick } from 'tallystick-dev/testing'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'

import { fetchGrouped } from '../../db/jobs/groups.ts'
import { makeDue } from '../../db/jobs/queries.ts'
import { dummyTable } from '../../db/statements.ts'
import { createDatabase } from '../fixtures/database.ts'
import { databases } from './parcels/service.ts'
import { contract } from './parcels/contract.ts'
import { app as other, parcels } from './parcels/app.ts'

/** Called in each attempt. The tests set it. */
let onAttempt = (_label: string): Promise<unknown> => Promise.resolve()
afterEach(() => {
  onAttempt = () => Promise.resolve()
})

/** Sends a request to a receiver. Each receiver is a group. */
const notify = job(
  { input: z.object({ url: z.string() }), retries: 0, timeout: 600, group: ({ url }) => url },
  async ({ url }, { signal }) => {
    await fetch(url, { method: 'POST', signal })
  },
)

const Member = z.object({ label: z.string(), group: z.string().optional() })

const pair = job(
  { input: Member, retries: 0, timeout: 600, group: ({ group }) => group, groupConcurrency: 2 },
  ({ label }) => onAttempt(label),
)
const single = job({ input: Member, retries: 0, timeout: 600, group: ({ group }) => group }, ({ label }) =>
  onAttempt(label),
)

const app = defineApp({
  name: 'Test groups',
  version: '1.0.0',
  description: 'Parcels, with jobs of groups.',
  contract,
  migrationsFolder: other.migrationsFolder,
  resources: { parcels },
  jobs: { notify, pair, single },
})

const start = (environment: Record<string, string>) => createTallystick(app, environment)

/** Starts a receiver of requests. */
async function startReceiver(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

/** Lets the attempts wait until they are released. */
function holdAttempts() {
  const held = new Map<string, () => void>()
  onAttempt = (label) => new Promise<void>((resolve) => held.set(label, resolve))
  onTestFinished(() => {
    onAttempt = () => Promise.resolve()
    for (const release of held.values()) release()
  })
  const isRunning = (label: string) => expect.poll(() => [...held.keys()]).toContain(label)
  return { held, isRunning, release: (label: string) => held.get(label)?.() }
}

describe.each(Object.entries(databases))('a group on %s', (_, environment) => {
  let service: Awaited<ReturnType<typeof start>>
  beforeAll(async () => {
    service = await start(environment)
  })
  afterAll(() => service.close())

  test('loses no job', async () => {
    const { enqueue } = service.context()
    const ids = []
    for (const label of ['1', '2', '3']) ids.push(await enqueue(single, { label, group: 'Ada' }))

    const attempts = await service.runDueJobs()

    expect(attempts.map(({ id, outcome }) => [id, outcome])).toEqual(ids.map((id) => [id, 'completed']))
  })

  describe('with a worker', () => {
    beforeAll(() => {
      service.services.worker.start()
    })

    test('whose receiver never answers does not delay another receiver', async () => {
      let silent = 0
      let quick = 0
      const slow = await startReceiver(() => silent++)
      const other = await startReceiver((_request, response) => {
        quick++
        response.end()
      })
      await service.context().transaction(async ({ enqueue }) => {
        for (let count = 0; count < 20; count++) await enqueue(notify, { url: slow })
      })
      await expect.poll(() => silent).toBe(1)

      for (let count = 0; count < 5; count++) await service.context().enqueue(notify, { url: other })
      await expect.poll(() => quick).toBe(5)

      expect(silent).toBe(1)
    })

    test('runs as many jobs at the same time as the job declares', async () => {
      const { held, isRunning, release } = holdAttempts()
      await service.context().transaction(async ({ enqueue }) => {
        for (const label of ['1', '2', '3']) await enqueue(pair, { label, group: 'Ada' })
        await enqueue(pair, { label: 'another', group: 'Bob' })
      })
      await isRunning('another')
      await expect.poll(() => held.size).toBe(3)
      const [first = ''] = [...held.keys()].filter((label) => label !== 'another')

      release(first)
      await expect.poll(() => held.size).toBe(4)
    })

    test('does not limit jobs without a group', async () => {
      const { isRunning } = holdAttempts()
      const labels = ['1', '2', '3']
      for (const label of labels) await service.context().enqueue(single, { label })

      for (const label of labels) await isRunning(label)
    })

    test('with few jobs runs before the others of a group with many', async () => {
      const { held, isRunning, release } = holdAttempts()
      const groups = ['a', 'b', 'c', 'd', 'e']
      await service.context().transaction(async ({ enqueue }) => {
        for (const group of groups)
          for (let count = 0; count < 3; count++) await enqueue(single, { label: group, group })
      })
      for (const group of groups) await isRunning(group)

      await service.context().enqueue(single, { label: 'late', group: 'late' })
      release('a')
      await isRunning('late')

      expect(held.size).toBe(6)
    })
  })
})

test.each(Object.entries(databases))(
  'the group that has waited longest is first on %s',
  async (_, environment) => {
    const service = await start(environment)
    onTestFinished(() => service.close())
    const { enqueue } = service.context()
    for (const group of ['many', 'many', 'many', 'few', 'last'])
      await enqueue(single, { label: group, group })
    const fetchOne = async (ends: Record<string, number>) => {
      const limits = { limit: 1, groupConcurrency: 1, ends }
      return (await fetchGrouped(service.services.db, 'single', limits)).map(({ group }) => group)
    }

    const later = Date.now() / 1000 + 60
    expect(await fetchOne({ few: later })).toEqual(['many'])
    expect(await fetchOne({ few: later })).toEqual(['last'])
    expect(await fetchOne({ few: later })).toEqual(['few'])
    // The others of the group wait for its running job.
    expect(await fetchOne({})).toEqual([])
  },
)

test('a group has its limit in all instances together', async () => {
  const { url, drop } = await createDatabase('template1')
  onTestFinished(drop)
  const instances: Awaited<ReturnType<typeof start>>[] = []
  for (let count = 0; count < 3; count++) instances.push(await start({ DATABASE_URL: url }))
  onTestFinished(async () => {
    await Promise.all(instances.map(({ close }) => close()))
  })
  let [running, most, ended] = [0, 0, 0]
  onAttempt = async () => {
    most = Math.max(most, ++running)
    await new Promise(setImmediate)
    running--
    ended++
  }
  await instances[0]?.context().transaction(async ({ enqueue }) => {
    for (let count = 0; count < 60; count++) await enqueue(single, { label: String(count), group: 'Ada' })
  })

  for (const { services } of instances) services.worker.start()
  await expect.poll(() => ended).toBe(60)

  expect(most).toBe(1)
})

test('an instance waits for another one that fetches, and counts its jobs', async () => {
  const { url, drop } = await createDatabase('template1')
  onTestFinished(drop)
  const [one, two] = [await start({ DATABASE_URL: url }), await start({ DATABASE_URL: url })]
  onTestFinished(async () => {
    await Promise.all([one.close(), two.close()])
  })
  const fetchOn = (db: typeof one.services.db) =>
    fetchGrouped(db, 'single', { limit: 5, groupConcurrency: 1, ends: {} })
  const { enqueue } = one.context()
  const after = new Date(Date.now() + 3_600_000)
  const earlier = await enqueue(single, { label: 'earlier', group: 'Ada' }, { after })
  await enqueue(single, { label: 'later', group: 'Ada' })
  const fetched: unknown[] = []
  let second: Promise<unknown> | undefined

  await one.services.db.transaction(async (tx) => {
    fetched.push(...(await fetchOn(tx)))
    await makeDue(two.services.db, earlier)
    second = fetchOn(two.services.db).then((jobs) => fetched.push(...jobs))
    await Promise.race([second, waitForLock(two.services.db)])
  })
  await second

  expect(fetched).toHaveLength(1)
})

/** Waits until a statement waits for a lock. */
async function waitForLock(db: Parameters<typeof fetchGrouped>[0]) {
  const isWaiting = sql`exists (select from pg_locks where not granted)`
  for (;;) {
    const [row] = await db.select({ isWaiting: isWaiting.mapWith(Boolean) }).from(dummyTable)
    if (row?.isWaiting) return
  }
}
