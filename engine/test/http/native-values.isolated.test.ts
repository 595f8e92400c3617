import { createORPCClient } from '@orpc/client'
import { RPCLink } from '@orpc/client/fetch'
import type { RouterClient } from '@orpc/server'
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'

import { createFetch } from '../fixtures/http.ts'
import { booking, type procedures } from '../fixtures/native-values.ts'
import { newEmail, startService } from '../fixtures/service.ts'

vi.mock('../library/app.ts', async (original) => {
  const actual = await original<typeof import('../library/app.ts')>()
  const { procedures } = await import('../fixtures/native-values.ts')
  return { app: { ...actual.app, router: { ...actual.app.router, ...procedures } } }
})

const service = await startService()
const call = createFetch(service)
const client: RouterClient<typeof procedures> = createORPCClient(
  new RPCLink({ url: `${service.origin}/rpc` }),
)

const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<unknown>(
      null,
      undefined,
      Number.NaN,
      true,
      0.5,
      '',
      'text',
      new URL('https://tally.example/'),
    ),
    fc.date({ noInvalidDate: true }),
    fc.bigInt(),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(tie('value'), { maxLength: 4 }).map((values) => new Set(values)),
    fc.array(fc.tuple(tie('value'), tie('value')), { maxLength: 4 }).map((entries) => new Map(entries)),
    fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), tie('value'), { maxKeys: 4 }),
  ),
}))

describe('native values over RPC', () => {
  test('come back as they were sent', async () => {
    const law = fc.asyncProperty(value, async (sent) => {
      expect(await client.echo(sent)).toEqual(sent)
    })

    await fc.assert(law, { numRuns: 200 })
  })

  test('are inputs and outputs of a procedure', async () => {
    expect(await client.book(booking)).toEqual(booking)
  })

  test.each([
    ['at', '2026-01-02'],
    ['seats', 2],
    ['page', 'https://tally.example'],
    ['tags', ['one']],
    ['prices', {}],
  ])('of another type are rejected, with the position: %s', async (path, wrong) => {
    const answer = client.book({ ...booking, [path]: wrong })

    await expect(answer).rejects.toMatchObject({ code: 'BAD_REQUEST', data: { issues: [{ path }] } })
  })

  test('must not be a regular expression', async () => {
    await expect(client.echo({ pattern: /a/ })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      data: { issues: [{ message: 'A regular expression is not accepted' }] },
    })
  })

  test('must not be a file', async () => {
    await expect(client.echo({ file: new Blob(['x']) })).rejects.toMatchObject({ status: 415 })
  })
})

test('a repeated request with native values gets the first response, and another Set is another request', async () => {
  const cookie = await service.signIn(newEmail())
  const keyed: RouterClient<typeof procedures> = createORPCClient(
    new RPCLink({ url: `${service.origin}/rpc`, headers: { cookie, 'idempotency-key': 'key' } }),
  )
  const first = await keyed.tag(new Set(['one']))

  const again = await keyed.tag(new Set(['one']))

  expect(again).toEqual(first)
  expect(again.at).toBeInstanceOf(Date)
  await expect(keyed.tag(new Set(['two']))).rejects.toMatchObject({ code: 'KEY_REUSED', status: 422 })
})

test('an output with native values is JSON over REST', async () => {
  const { status, body } = await call('GET', '/api/booking')

  expect(status).toBe(200)
  expect(body).toEqual({
    at: '2026-01-02T03:04:05.678Z',
    seats: '1208925819614629174706176',
    page: 'https://tally.example/a?b=c',
    tags: ['one', 'two'],
    prices: [['adult', 7.5]],
  })
})
