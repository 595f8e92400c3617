import { randomUUID } from 'node:crypto'

import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { rateLimits } from '../../app/rate-limits.ts'
import { rateLimitCounters } from '../../db/accounts/rate-limits.ts'
import { jobRows } from '../../db/jobs/tables.ts'
import { createContext } from '../../guard/authentication.ts'
import { weigh } from './parcels/jobs.ts'
import { databases, startParcels } from './parcels/service.ts'

const production = {
  NODE_ENV: 'production',
  BASE_URL: 'https://parcels.example',
  AUTH_SECRET: 'a secret of the tests of jobs, with 32 characters',
  SMTP_URL: 'smtp://127.0.0.1:9',
  MAIL_FROM: 'parcels@parcels.example',
}
const limit = rateLimits.registrations
const rowOf = (key: string) => eq(rateLimitCounters.key, `${limit.name}:${key}`)

describe.each(Object.entries(databases))('in production, on %s', (_, environment) => {
  let started: ReturnType<typeof startParcels>
  beforeAll(
    () =>
      (started = startParcels({
        ...production,
        RATE_LIMITS: 'on',
        LIMITS: 'registrations=2',
        ...environment,
      })),
  )
  afterAll(async () => (await started).close())
  const newContext = async () => createContext((await started).services, {})

  test('a transaction refuses the outer connection', async () => {
    const outer = await newContext()
    const message = /outside of the transaction/

    await outer.transaction(async () => {
      await expect(outer.db.select().from(jobRows)).rejects.toThrow(message)
      await expect(outer.db.insert(rateLimitCounters).values({ key: 'x', points: 1 })).rejects.toThrow(
        message,
      )
      await expect(outer.enqueue(weigh, { label: 'x' })).rejects.toThrow(message)
      await expect(outer.transaction(() => Promise.resolve())).rejects.toThrow(message)
      await expect(outer.db.transaction(() => Promise.resolve())).rejects.toThrow(message)
    })

    await expect(outer.db.select().from(jobRows).limit(1)).resolves.toBeDefined()
  })

  test('inner transactions run one after the other, and undo their own jobs alone', async () => {
    const { runDue, attemptsOf } = await started
    const { transaction } = await newContext()
    const [first, failed, last] = [randomUUID(), randomUUID(), randomUUID()]

    const results = await transaction((tx) =>
      Promise.allSettled(
        [first, failed, last].map((label) =>
          tx.transaction(async (inner) => {
            await inner.enqueue(weigh, { label })
            if (label === failed) throw new Error('Undo')
          }),
        ),
      ),
    )
    await runDue()

    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(await attemptsOf(first)).toHaveLength(1)
    expect(await attemptsOf(failed)).toEqual([])
    expect(await attemptsOf(last)).toHaveLength(1)
  })

  test('an inner transaction refuses a further transaction of the outer one', async () => {
    const { transaction } = await newContext()
    const message = /outside of the transaction/

    await transaction(async (tx) => {
      await tx.transaction(async () => {
        await expect(tx.transaction(() => Promise.resolve())).rejects.toThrow(message)
        await expect(tx.db.transaction(() => Promise.resolve())).rejects.toThrow(message)
      })
      await tx.db.transaction(async () => {
        await expect(tx.transaction(() => Promise.resolve())).rejects.toThrow(message)
      })
      await expect(tx.transaction(() => Promise.resolve(1))).resolves.toBe(1)
    })
  })

  test('a rollback gives no call back to a rate limit in the database', async () => {
    const { db } = await started
    const { transaction, consumeRateLimit } = await newContext()
    const key = randomUUID()
    const consumeAndFail = () =>
      transaction(async (tx) => {
        await tx.transaction(() => consumeRateLimit(limit, key))
        throw new Error('Undo')
      })

    await expect(consumeAndFail()).rejects.toThrow('Undo')
    await expect(consumeAndFail()).rejects.toThrow('Undo')
    const refused = await transaction(() => consumeRateLimit(limit, key))

    expect(refused?.headers).toMatchObject({ 'ratelimit-policy': '"registrations";q=2;w=3600' })
    expect(await db.select().from(rateLimitCounters).where(rowOf(key))).toMatchObject([{ points: 2 }])
  })

  test('the calls of one transaction are counted together', async () => {
    const { transaction, consumeRateLimit } = await newContext()
    const key = randomUUID()

    const results = await transaction(async () => [
      await consumeRateLimit(limit, key),
      await consumeRateLimit(limit, key),
      await consumeRateLimit(limit, key),
    ])

    expect(results).toEqual([
      undefined,
      undefined,
      expect.objectContaining({ error: expect.any(Error) as Error }),
    ])
  })
})
