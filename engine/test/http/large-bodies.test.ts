import { implement } from '@orpc/server'
import { once } from 'node:events'
import { request } from 'node:http'
import { MAX_BYTES, type Meta, publicAccess, text } from 'tallystick-contract/internal'
import { type Context, defineApp, withoutCaller } from 'tallystick'
import { createTallystick } from 'tallystick-dev/testing'
import { afterAll, describe, expect, test } from 'vitest'
import * as z from 'zod'

import { MAX_INCOMPLETE } from '../../http/server/body-limits.ts'
import { createFetch } from '../fixtures/http.ts'
import { app as library } from '../library/app.ts'
import { books } from '../library/books.ts'
import { contract as libraryContract } from '../library/contract.ts'
import { loans } from '../library/loans.ts'
import { shelves } from '../library/shelves.ts'
import { visits } from '../library/visits.ts'

const MIB = 2 ** 20
const rateLimit = { name: 'imports', points: 1000, duration: 60 }

/** The library with imports of many rows. */
function createApp(meta: Meta) {
  const base = publicAccess.meta({ updates: [], rateLimit })
  const imports = {
    add: base
      .meta(meta)
      .route({ method: 'POST', path: '/api/imports/{name}' })
      .input(z.object({ name: text({ max: 10 }), rows: z.array(z.number()), padding: z.string().optional() }))
      .output(z.object({ count: z.int() })),
    clear: base.route({ method: 'POST', path: '/api/imports/clear' }).output(z.object({ count: z.int() })),
  }
  const contract = { ...libraryContract, imports }
  const os = implement(imports).$context<Context>().use(withoutCaller)
  const procedures = os.router({
    add: os.add.handler(({ input }) => ({ count: input.rows.length })),
    clear: os.clear.handler(() => ({ count: 0 })),
  })
  const { name, version, description, migrationsFolder } = library
  const resources = { visits, books, loans, shelves, imports: { description: 'Imports.', procedures } }
  return defineApp({ name, version, description, migrationsFolder, contract, resources })
}

const service = await createTallystick(createApp({ maxBytes: 4 * MIB }))
const origin = await service.listen()
const call = createFetch({ origin })

afterAll(() => service.close())

const rows = (count: number) => Array.from({ length: count }, (_, index) => index)
const padding = 'x'.repeat(2 * MIB)

describe('a procedure with `maxBytes`', () => {
  test('accepts a larger body with more values, over REST and over RPC', async () => {
    const body = { name: 'a', rows: rows(30_000), padding }

    expect(await call('POST', '/api/imports/a', body)).toMatchObject({ status: 200, body: { count: 30_000 } })
    expect(await call('POST', '/rpc/imports/add', { json: body })).toMatchObject({
      status: 200,
      body: { json: { count: 30_000 } },
    })
  })

  test('rejects a body above its maximum, with and without a declared size', async () => {
    const body = JSON.stringify({ rows: [], padding: 'x'.repeat(4 * MIB) })
    const expected = { status: 413, message: `A body may have at most ${4 * MIB} bytes` }
    const stream = new Blob([body]).stream()
    const headers = { 'content-type': 'application/json' }

    const declared = await fetch(`${origin}/api/imports/a`, { method: 'POST', headers, body })
    const chunked = await fetch(`${origin}/api/imports/a`, {
      method: 'POST',
      headers,
      body: stream,
      duplex: 'half',
    })

    expect(await declared.json()).toMatchObject(expected)
    expect(await chunked.json()).toMatchObject(expected)
  })

  test('rejects more values than 10,000 for each MiB of its maximum', async () => {
    const answer = await call('POST', '/api/imports/a', { rows: rows(40_001) })

    expect(answer).toMatchObject({ status: 400, body: { message: expect.stringContaining('40000 values') } })
  })

  test.each([
    ['another procedure at a path that the pattern also matches', '/api/imports/clear'],
    ['an unknown path', '/api/unknown'],
    ['a batch', '/rpc/__batch__'],
    ['agents', '/mcp'],
  ])('leaves 1 MiB to %s', async (_, path) => {
    const headers: Record<string, string> = path.endsWith('__batch__') ? { 'x-orpc-batch': 'streaming' } : {}

    const { status, body } = await call('POST', path, { padding }, headers)

    expect(status).toBe(413)
    expect(JSON.stringify(body)).toContain(`A body may have at most ${MIB} bytes`)
  })

  test('counts a large incomplete body as several, so that it cannot take the memory of others', async () => {
    const send = () => {
      const sent = request(`${origin}/api/imports/a`, {
        method: 'POST',
        agent: false,
        headers: { 'content-type': 'application/json', 'content-length': 4 * MIB },
      })
      sent.on('error', () => undefined)
      sent.write('{"rows":[')
      return sent
    }
    const first = send()
    const answered = once(first, 'response')
    await once(first, 'socket')

    // Each counts as four incomplete bodies of 1 MiB.
    const others = Array.from({ length: MAX_INCOMPLETE / 4 / 4 }, send)
    const [response] = (await answered) as [{ statusCode: number }]
    for (const other of others) other.destroy()

    expect(response.statusCode).toBe(408)
  })
})

describe('defineApp', () => {
  test.each([0, 1.5, MAX_BYTES + 1])('refuses a maximum of %d bytes', (maxBytes) => {
    expect(() => createApp({ maxBytes })).toThrow(
      `imports.add: \`maxBytes\` is ${maxBytes}, but must be a number of bytes from 1 to 16777216 (16 MiB)`,
    )
  })
})
