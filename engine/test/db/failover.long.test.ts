import postgres from 'postgres'
import { describe, expect, test, vi } from 'vitest'

import { isOutage } from '../../db/errors.ts'
import { databaseUrl } from '../../dev/testing/database-url.ts'
import { freePort, startPostgres } from '../../dev/testing/postgres.ts'
import { open } from '../fixtures/database.ts'
import { createTallystick, startService } from '../fixtures/service.ts'
import { BreakableConnection } from '../fixtures/breakable-connection.ts'

/** How long a test waits for a condition before it fails. */
const WAIT = { timeout: 20_000 }

const service = await startService()

/** Opens a connection that can write even if the database is read-only, so that the test can change the mode. */
const administer = (url: string) =>
  postgres(url, { max: 1, connection: { options: '-c default_transaction_read_only=off' } })

const nameOf = (url: string) => new URL(url).pathname.slice(1)

describe('a DATABASE_URL of several servers', { timeout: 180_000 }, () => {
  test('connects to the server that accepts writes, and after a failover to the new primary', async () => {
    const first = new URL(service.databaseUrl)
    const wire = new BreakableConnection(first.hostname, Number(first.port))
    const standby = await startPostgres(['-c', 'fsync=off', '-c', 'default_transaction_read_only=on'])
    const admin = administer(standby.url)
    const name = nameOf(first.href)
    await admin`create database ${admin(name)}`
    await admin`alter database ${admin(name)} set default_transaction_read_only = off`
    await (await open(databaseUrl(standby.url, name))).close()
    await admin`alter database ${admin(name)} reset default_transaction_read_only`
    const both = new URL(first)
    both.hostname = 'servers'
    both.port = ''
    const servers = `127.0.0.1:${new URL(standby.url).port},127.0.0.1:${await wire.listen()}`
    const tallystick = await createTallystick({ DATABASE_URL: both.href.replace('servers', servers) })
    const { visits } = tallystick.stranger

    for (let count = 1; count <= 7; count++) expect(await visits.add()).toEqual({ count })
    expect(await service.stranger.visits.get()).toEqual({ count: 7 })

    wire.cut()
    await expect(visits.add()).rejects.toMatchObject({ status: 503 })
    await expect(visits.get()).rejects.toMatchObject({ status: 503 })
    await admin`alter database ${admin(name)} set default_transaction_read_only = off`
    await vi.waitFor(async () => {
      const { count } = await visits.add()
      // The new primary has no visits of the other server.
      expect(count).toBeLessThan(7)
      expect(await visits.get()).toEqual({ count })
    }, WAIT)

    expect(await service.stranger.visits.get()).toEqual({ count: 7 })
    await tallystick.close()
    await admin.end()
    await standby.stop()
    wire.close()
  })

  test('fails immediately if no server is available', async () => {
    const ports = [await freePort(), await freePort()]
    const nowhere = `postgres://nobody:x@127.0.0.1:${ports[0]},127.0.0.1:${ports[1]}/nothing`

    const refusal: unknown = await open(nowhere).catch((error: unknown) => error)

    expect(isOutage(refusal)).toBe(true)
    expect(String(refusal)).toMatch(new RegExp(`None of .*:${ports[0]}.*:${ports[1]}`))
  })
})

describe('a read-only server', () => {
  test('causes 503 for changes, and is used again when it accepts writes', async () => {
    const { visits } = service.stranger
    const admin = administer(service.databaseUrl)
    const restrict = async (to: string) => {
      await admin`alter database ${admin(nameOf(service.databaseUrl))} set default_transaction_read_only = ${admin(to)}`
      // Closes the other connections, because existing connections keep the previous mode.
      await admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`
    }

    await restrict('on')
    await vi.waitFor(async () => {
      expect(await visits.get()).toEqual({ count: 7 })
    }, WAIT)
    await expect(visits.add()).rejects.toMatchObject({ status: 503 })
    await restrict('off')
    await admin.end()

    await vi.waitFor(async () => {
      expect(await visits.add()).toEqual({ count: 8 })
    }, WAIT)
  })
})
