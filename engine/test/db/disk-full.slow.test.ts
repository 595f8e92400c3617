import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { sql } from 'drizzle-orm'
import { afterAll, describe, expect, test } from 'vitest'

import { createApp } from '../../http/server/app.ts'
import { freePort } from '../../dev/testing/postgres.ts'
import { createLog } from '../../telemetry/log.ts'
import { createFetch } from '../fixtures/http.ts'
import { newEmail, startService } from '../fixtures/service.ts'

const port = await freePort()
const service = await startService({ METRICS_PORT: String(port) })
const metrics = await service.services.metrics?.serve()
const lines: string[] = []
const log = createLog(
  { logLevel: 'error', service: 'test', production: true, release: 'local' },
  { write: (line) => void lines.push(line) },
)
const server = createApp({ ...service.services, log }).listen(0, '127.0.0.1')
await once(server, 'listening')
const call = createFetch({ origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
const cookie = await service.signIn(newEmail())

// PostgreSQL refuses the change with the error of a full disk. The disk of the tests must stay free.
await service.services.db.execute(sql`
  create function refuse() returns trigger language plpgsql as $$
    begin raise exception using errcode = 'disk_full', message = 'could not extend file "base/1/2"'; end $$`)
for (const table of ['shelves', 'limits', 'verifications'])
  await service.services.db.execute(
    sql`create trigger refuse before insert or update on ${sql.identifier(table)} execute function refuse()`,
  )

afterAll(() => {
  for (const each of [server, metrics]) {
    each?.close()
    each?.closeAllConnections()
  }
})

const failures = async () =>
  /database_failures_total\{reason="disk_full"\} (\d+)/.exec(
    await (await fetch(`http://127.0.0.1:${port}/metrics`)).text(),
  )?.[1]

describe('while the disk of the database is full', () => {
  test.each([
    ['a change', '/api/shelves', { name: 'x' }],
    ['a sign-in', '/api/auth/email-otp/send-verification-otp', { email: 'ada@example.com', type: 'sign-in' }],
  ])('%s is refused with 503, one line in the log, and a count', async (_, path, body) => {
    const before = Number(await failures())
    lines.length = 0

    const { status, headers, body: answer } = await call('POST', path, body, { cookie })

    expect(answer).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      message: 'The database cannot store changes now; try again later',
    })
    expect({ status, after: headers.get('retry-after') }).toEqual({ status: 503, after: '1' })
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      expect.objectContaining({
        req: { id: headers.get('x-request-id') },
        err: expect.objectContaining({
          code: '53100',
          message: 'could not extend file "base/1/2"',
        }) as object,
      }),
    ])
    expect(Number(await failures())).toBeGreaterThan(before)
  })

  test.each(['/api/health/ready', '/api/status', '/api/visits', '/api/shelves', '/api/me', '/'])(
    '%s answers',
    async (path) => {
      expect((await call('GET', path, undefined, { cookie })).status).toBe(200)
    },
  )
})
