import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'

import { sql } from 'drizzle-orm'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'

import { createDatabase, open } from '../fixtures/database.ts'
import { PATIENCE } from '../fixtures/patience.ts'
import { errorResponse, startProxy } from '../fixtures/proxy.ts'
import { createTallystick } from '../fixtures/service.ts'
import { hasOpenssl, writeCertificate } from '../fixtures/tls.ts'
import { type Postgres, startPostgres } from '../../dev/testing/postgres.ts'

const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
)

describe.runIf(hasOpenssl)('a server with TLS, IPv6 and a Unix socket', () => {
  let server: Postgres
  let port: string
  const folder = mkdtempSync(join(tmpdir(), 'tallystick-addresses-'))
  const authority = join(folder, 'cert.pem')

  beforeAll(async () => {
    chmodSync(folder, 0o777)
    server = await startPostgres([
      ...['-c', 'fsync=off', '-c', `unix_socket_directories=${folder}`],
      ...['-c', `listen_addresses=127.0.0.1,localhost${hasIpv6 ? ',::1' : ''}`],
    ])
    port = new URL(server.url).port
    // Not valid for localhost.
    const { key, cert } = writeCertificate(folder, 'IP:127.0.0.1')
    // PostgreSQL accepts only the key of its own user.
    if (process.getuid?.() === 0) execFileSync('chown', ['postgres', key])
    const admin = postgres(server.url, { max: 1 })
    await admin.unsafe(`alter system set ssl_cert_file = '${cert}'`)
    await admin.unsafe(`alter system set ssl_key_file = '${key}'`)
    await admin`alter system set ssl = on`
    await admin`select pg_reload_conf()`
    await admin.end()
    await vi.waitFor(() => usesTls(`${server.url}?sslmode=require`), PATIENCE)
  }, 120_000)

  afterAll(async () => {
    await server.stop()
    rmSync(folder, { recursive: true })
  })

  const at = (host: string, query: string) =>
    `postgres://postgres:postgres@${host}/postgres?${query.replace('CERT', authority)}`

  test.each([
    ['sslmode=disable', false],
    ['', false],
    ['sslmode=allow', true],
    ['sslmode=prefer', true],
    ['sslmode=require', true],
    ['sslmode=no-verify', true],
    ['sslmode=verify-ca&sslrootcert=CERT', true],
    ['sslmode=require&sslrootcert=CERT', true],
  ])('connects to a name that the certificate does not contain with %s', async (query, tls) => {
    expect(await usesTls(at(`localhost:${port}`, query))).toBe(tls)
  })

  test.each([
    ['localhost', 'sslmode=verify-full&sslrootcert=CERT', /localhost/],
    ['127.0.0.1', 'sslmode=verify-full', /self-signed/],
    ['127.0.0.1', 'ssl=true', /self-signed/],
    ['127.0.0.1', 'sslmode=verify-full&sslrootcert=system', /self-signed/],
  ])('refuses the certificate of %s with %s', async (host, query, problem) => {
    const error = await open(at(`${host}:${port}`, query)).catch((reason: unknown) => reason)

    expect(String(error)).toMatch(/^Error: DATABASE_URL: /)
    expect(String(error)).toMatch(problem)
  })

  test('verifies the certificate of an IP address with sslmode=verify-full and sslrootcert', async () => {
    expect(await usesTls(at(`127.0.0.1:${port}`, 'sslmode=verify-full&sslrootcert=CERT'))).toBe(true)
  })

  test('connects to the primary of two hosts with TLS', async () => {
    expect(await usesTls(at(`127.0.0.1:1,localhost:${port}`, 'sslmode=require'))).toBe(true)
  })

  test('connects over a Unix socket, in both notations', async () => {
    expect(await usesTls(at(`${encodeURIComponent(folder)}:${port}`, 'sslmode=require'))).toBe(false)
    expect(await usesTls(at('', `host=${folder}&port=${port}`))).toBe(false)
  })

  test.runIf(hasIpv6)('connects to an IPv6 address', async () => {
    expect(await usesTls(at(`[::1]:${port}`, 'sslmode=require'))).toBe(true)
  })
})

describe('the role of the service', () => {
  /** Creates a role without the permission to create tables, and returns the database URL with this role. */
  async function withRole(empty: boolean) {
    const { url, drop } = await createDatabase(empty ? 'template1' : undefined)
    const admin = postgres(url, { max: 1, onnotice: () => undefined })
    const role = `runtime_${crypto.randomUUID().replaceAll('-', '')}`
    await admin`create role ${admin(role)} login password 'secret'`
    onTestFinished(async () => {
      await admin`drop owned by ${admin(role)}`
      await admin`drop role ${admin(role)}`
      await admin.end()
      await drop()
    })
    const own = new URL(url)
    own.username = role
    own.password = 'secret'
    return { admin, role, url: own.href }
  }

  // The application of the test has no jobs, and so not their schema.
  const grants = [...readFileSync('docs/operation.md', 'utf8').matchAll(/^grant (?!.*tallystick_jobs).*;$/gm)]

  test('needs no permission to create tables if no migration is pending', async () => {
    const { admin, role, url } = await withRole(false)
    for (const [grant] of grants) await admin.unsafe(grant.replace('tallystick;', `${role};`))
    const tallystick = await createTallystick({ DATABASE_URL: url })
    onTestFinished(tallystick.close)

    const ada = await tallystick.person()
    expect(await ada.shelves.create({ name: 'Write' })).toMatchObject({ name: 'Write' })
    expect(await tallystick.stranger.visits.add()).toMatchObject({
      count: expect.any(Number) as number,
    })
  })

  test('may have another search path', async () => {
    const { admin, role, url } = await withRole(false)
    await admin`insert into visits (id, count) values (1, 0)`
    await admin`create schema other authorization ${admin(role)}`
    await admin`alter role ${admin(role)} set search_path = other`
    await admin`grant all on all tables in schema public, drizzle to ${admin(role)}`
    await admin`grant usage on schema drizzle to ${admin(role)}`
    await admin`grant usage on all sequences in schema public to ${admin(role)}`
    const { db, close } = await open(url)
    onTestFinished(close)

    expect(await db.select({ name: sql`current_schema()` }).from(sql`visits`)).toEqual([{ name: 'public' }])
  })

  test('that may not create tables gets advice if migrations are pending', async () => {
    const { url } = await withRole(true)

    await expect(open(url)).rejects.toThrow(
      /^Migration tallystick\/0000_baseline: permission denied.*\n.*tallystick migrate/,
    )
  })
})

test('the error of a connection pooler at DATABASE_URL names DATABASE_DIRECT_URL', async () => {
  // The answer of PgBouncer to a client that sets timeouts.
  const refusal = errorResponse('FATAL', '08P01', 'unsupported startup parameter: options')
  const pooler = await startProxy('postgres://localhost/x', [], () => (client) => client.end(refusal))
  onTestFinished(pooler.close)

  await expect(open(pooler.url)).rejects.toThrow(
    /^DATABASE_URL: unsupported startup parameter: options\n.*DATABASE_DIRECT_URL/,
  )
})

test('sslmode=prefer connects to a server without TLS', async () => {
  const { url, drop } = await createDatabase()
  onTestFinished(drop)

  expect(await usesTls(`${url}?sslmode=prefer`)).toBe(false)
})

/** Returns whether a connection uses TLS. */
async function usesTls(url: string) {
  const { db, close } = await open(url)
  try {
    const ssl = sql<boolean>`ssl`
    const [row] = await db
      .select({ ssl })
      .from(sql`pg_stat_ssl`)
      .where(sql`pid = pg_backend_pid()`)
    return row?.ssl
  } finally {
    await close()
  }
}
