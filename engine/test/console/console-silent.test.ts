import { implement } from '@orpc/server'
import { type Context, defineApp, job, withoutCaller } from 'tallystick'
import { appContract, publicAccess, resourceContract, topic } from 'tallystick-contract'
import { expect, test } from 'vitest'
import * as z from 'zod'

import type { LiveEntry, SilentWrite } from '../../console/live/live-contract.ts'
import { createContext } from '../../guard/authentication.ts'
import { startConsole } from '../fixtures/console.ts'
import { app as library } from '../library/app.ts'
import * as query from '../library/db.ts'

const Count = z.object({ count: z.int() })
const counted = topic('visits', { access: 'public', state: Count })
/** A topic that depends on the same table. */
const totals = topic('totals', { access: 'public', state: Count })
const post = (name: string) => ({ method: 'POST', path: `/api/visits/${name}`, summary: name }) as const
const contract = appContract({
  visits: resourceContract({
    topics: [counted, totals],
    procedures: {
      get: publicAccess
        .meta({ reads: counted })
        .route({ method: 'GET', path: '/api/visits', summary: 'get' })
        .output(Count),
      total: publicAccess
        .meta({ reads: totals })
        .route({ method: 'GET', path: '/api/visits/total', summary: 'total' })
        .output(Count),
      announce: publicAccess
        .meta({ updates: [counted] })
        .route(post('announce'))
        .output(Count),
      forget: publicAccess.meta({ updates: [] }).route(post('forget')).output(Count),
      fail: publicAccess.meta({ updates: [] }).route(post('fail')).output(Count),
    },
  }),
})
const os = implement(contract.visits).$context<Context>().use(withoutCaller)
const add = async ({ context: { db } }: { context: Context }) => ({ count: await query.addVisit(db) })

const tally = job({ input: z.object({}) }, async (_, { db }) => {
  await query.addVisit(db)
})

/** An application with a procedure and a job that do not announce their writes. */
const app = defineApp({
  name: 'Silent writes',
  version: '1.0.0',
  description: 'Visits.',
  contract,
  migrationsFolder: library.migrationsFolder,
  resources: {
    visits: {
      description: 'The number of visits.',
      procedures: os.router({
        get: os.get.handler(async ({ context: { db } }) => ({ count: await query.countVisits(db) })),
        total: os.total.handler(async ({ context: { db } }) => ({ count: await query.countVisits(db) })),
        announce: os.announce.handler(add),
        forget: os.forget.handler(async ({ context }) => {
          context.log.warn({ visits: 1 }, 'a visit without an announcement')
          return add({ context })
        }),
        fail: os.fail.handler(async ({ context }) => {
          await add({ context })
          throw new Error('After the write')
        }),
      }),
    },
  },
  jobs: { tally },
})

const { client, services } = await startConsole({ LOG_LEVEL: 'warn' }, app)
const caller = { person: null, scopes: null }
const call = async (name: string) =>
  (
    await client.procedures.call({ operation: `visits.${name}`, input: undefined, caller, headers: {} })
  ).headers.find(([header]) => header === 'x-request-id')?.[1]

/** Watches the live updates until the callback has ended. */
async function watching(work: (entries: readonly LiveEntry[]) => Promise<void>) {
  const abort = new AbortController()
  const events = await client.watch(undefined, { signal: abort.signal })
  const entries: LiveEntry[] = []
  const reading = (async () => {
    for await (const { live } of events) entries.push(...live)
  })().catch(() => undefined)
  try {
    await expect.poll(() => services.recorder?.findLiveObserver()).toBeDefined()
    await work(entries)
  } finally {
    abort.abort()
    await reading
    await expect.poll(() => services.recorder?.findLiveObserver()).toBeUndefined()
  }
}

const silentIn = (entries: readonly LiveEntry[]) =>
  entries.filter((entry): entry is SilentWrite => entry.kind === 'silent')

test('a call that wrote to a table of a topic and announced nothing is listed with its stream', async () => {
  await watching(async (entries) => {
    const { stream } = await client.live.open({ input: { topics: ['visits'] }, caller })
    await expect.poll(() => entries.some(({ kind }) => kind === 'sent')).toBe(true)
    await call('announce')
    await call('fail')

    const request = await call('forget')

    await expect.poll(() => silentIn(entries)).toHaveLength(1)
    expect(silentIn(entries)[0]).toMatchObject({
      topic: 'visits',
      tables: ['visits'],
      operation: 'visits.forget',
      request,
      streams: [stream],
    })
  })
})

test('a call is not listed for another topic of a table that it announced', async () => {
  await watching(async (entries) => {
    await client.live.open({ input: { topics: ['visits', 'totals'] }, caller })
    await expect.poll(() => entries.filter(({ kind }) => kind === 'sent')).toHaveLength(2)
    await call('announce')

    await call('forget')

    await expect.poll(() => silentIn(entries)).toHaveLength(2)
    expect(silentIn(entries).map(({ topic, operation }) => [topic, operation])).toEqual([
      ['visits', 'visits.forget'],
      ['totals', 'visits.forget'],
    ])
  })
})

test('a job is listed too, also if a topic is read only after the job', async () => {
  await watching(async (entries) => {
    const context = createContext(services, {})
    const id = await context.enqueue(tally, {})
    await services.worker.runDue(new Date(Date.now() + 1000))
    expect(silentIn(entries)).toEqual([])

    await client.live.open({ input: { topics: ['visits'] }, caller })

    await expect.poll(() => silentIn(entries)).toHaveLength(1)
    expect(silentIn(entries)[0]).toMatchObject({ operation: 'jobs.tally', request: id })
  })
})

test('a recorded request has the lines that it has logged', async () => {
  const abort = new AbortController()
  const events = await client.watch(undefined, { signal: abort.signal })
  await events.next()
  const id = await call('forget')
  const requests = async () => {
    for await (const batch of events) {
      const found = batch.requests.find((request) => request.id === id)
      if (found) return found
    }
    throw new Error('The recording has ended')
  }

  const { lines } = await requests()

  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    expect.objectContaining({ level: 40, msg: 'a visit without an announcement', visits: 1 }),
  ])
  abort.abort()
  await events.return(undefined).catch(() => undefined)
})
