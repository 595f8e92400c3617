import { count, eq, inArray, sql } from 'drizzle-orm'
import { integer, pgTable, uuid } from 'drizzle-orm/pg-core'
import { spawnSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import postgres from 'postgres'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'

import type { Database } from '../../db/connection/database.ts'
import { isOutage } from '../../db/errors.ts'
import { open } from '../../db/connection/open.ts'
import { freePort } from '../../dev/testing/postgres.ts'
import { relayTls, startProxy } from '../fixtures/proxy.ts'
import { startService } from '../fixtures/service.ts'
import { createCertificate } from '../fixtures/tls.ts'
import { startPooler } from '../fixtures/pgbouncer.ts'

const CALLERS = 8
const CUTS = 20

const { databaseUrl, services } = await startService()
const { migrationsFolder } = services.app
const pairs = pgTable('pairs', { id: uuid().notNull(), half: integer().notNull() })

beforeAll(() => services.db.execute(sql`create table pairs (id uuid not null, half integer not null)`))

async function relayTo(target: string, otherwise?: Parameters<typeof startProxy>[2]) {
  const proxy = await startProxy(target, [], otherwise)
  onTestFinished(proxy.close)
  return proxy
}

const has = (command: string) => spawnSync(command, ['--version']).error === undefined

/**
 * Ways to connect to PostgreSQL. Every connection goes through a proxy, so that the test can interrupt the connection.
 */
const routes = {
  directly: {
    possible: true,
    connect: async () => {
      const proxy = await relayTo(databaseUrl)
      return { proxy, url: proxy.url }
    },
  },
  'with TLS': {
    possible: has('openssl'),
    connect: async () => {
      const proxy = await relayTo(databaseUrl, relayTls(createCertificate()))
      return { proxy, url: `${proxy.url}?sslmode=require` }
    },
  },
  'with several hosts': {
    possible: true,
    connect: async () => {
      const proxy = await relayTo(databaseUrl)
      const host = `127.0.0.1:${proxy.port}`
      return { proxy, url: proxy.url.replace(host, `127.0.0.1:${await freePort()},${host}`) }
    },
  },
  'with PgBouncer': {
    possible: has('pgbouncer'),
    connect: async () => {
      await setTimeouts()
      const pooler = await startPooler(databaseUrl)
      onTestFinished(pooler.stop)
      const proxy = await relayTo(pooler.url)
      return { proxy, url: proxy.url, directUrl: databaseUrl }
    },
  },
}

/**
 * Sets the timeouts as defaults of the database, because PgBouncer does not forward the timeouts that a client sets.
 */
async function setTimeouts() {
  const admin = postgres(databaseUrl, { max: 1 })
  const name = new URL(databaseUrl).pathname.slice(1)
  for (const limit of ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'])
    await admin`alter database ${admin(name)} set ${admin(limit)} = 10000`
  await admin.end()
}

/**
 * Starts concurrent callers. Until `stop` is called, each caller repeatedly inserts a pair of rows in one transaction
 * and reads the pair.
 */
function startCallers(db: Database) {
  const acknowledged: string[] = []
  const wrong: unknown[] = []
  let stopped = false
  const insertPair = async () => {
    const id = crypto.randomUUID()
    const rows = [1, 2].map((half) => ({ id, half }))
    await db.transaction(async (tx) => {
      for (const row of rows) {
        await tx.insert(pairs).values(row)
        await sleep(1)
      }
    })
    acknowledged.push(id)
    const found = await db.select().from(pairs).where(eq(pairs.id, id)).orderBy(pairs.half)
    if (!isDeepStrictEqual(found, rows)) wrong.push(found)
  }
  const call = async () => {
    while (!stopped)
      await insertPair().catch((error: unknown) => {
        if (!isOutage(error)) wrong.push(error)
      })
  }
  const callers = Array.from({ length: CALLERS }, call)
  const stop = async () => {
    stopped = true
    await Promise.all(callers)
  }
  return { acknowledged, wrong, stop }
}

describe('transactions over connections that break', { timeout: 180_000 }, () => {
  for (const [route, { possible, connect }] of Object.entries(routes))
    test.skipIf(!possible)(`are complete or absent, and every promise settles, ${route}`, async () => {
      const { proxy, url, ...direct } = await connect()
      const { db, close } = await open(url, { migrationsFolder, ...direct })
      const { acknowledged, wrong, stop } = startCallers(db)

      for (let cut = 0; cut < CUTS; cut++) {
        const { length } = acknowledged
        await vi.waitUntil(() => acknowledged.length > length + CALLERS, { timeout: 60_000, interval: 1 })
        for (const client of proxy.clients)
          if (cut % 2) client.resetAndDestroy()
          else client.destroy()
      }
      await stop()
      await close()

      const grouped = services.db.select({ id: pairs.id }).from(pairs).groupBy(pairs.id)
      const whole = await services.db
        .select({ id: pairs.id })
        .from(pairs)
        .where(inArray(pairs.id, acknowledged))
        .groupBy(pairs.id)
      expect(wrong).toEqual([])
      expect(whole).toHaveLength(acknowledged.length)
      expect(await grouped.having(sql`${count()} <> 2`)).toEqual([])
    })
})
