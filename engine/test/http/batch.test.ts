import { createORPCClient } from '@orpc/client'
import { RPCLink } from '@orpc/client/fetch'
import { BatchLinkPlugin, type BatchLinkPluginOptions, DedupeRequestsPlugin } from '@orpc/client/plugins'
import type { CallContext } from 'tallystick-contract'
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest'

import { serveWithLog } from '../fixtures/logged-server.ts'
import { freePort } from '../../dev/testing/postgres.ts'
import { createClient, newEmail, startService, withTableLocked } from '../fixtures/service.ts'
import type { Client } from '../library/contract.ts'

/** How long a test waits for a condition before it fails. */
const WAIT = { timeout: 20_000 }

const METRICS_PORT = String(await freePort())
const service = await startService({
  METRICS_PORT,
  MAX_REQUESTS: '6',
  RATE_LIMITS: 'on',
  LIMITS: 'visits=3',
  TRUSTED_PROXIES: '127.0.0.1',
})
const { lines, origin } = await serveWithLog(service.services, 'info')
const metrics = await service.services.metrics?.serve()
afterAll(() => {
  metrics?.close()
})

const sent: {
  method: string
  url: string
  status: number
  setCookie: string | null
  text: Promise<string>
}[] = []
beforeEach(() => {
  sent.length = 0
  lines.length = 0
})

/** Sends a request, and records the request with its response. */
const record = async (request: Request, init?: object) => {
  const { method, url } = request
  const response = await fetch(request, init)
  const text = response.clone().text()
  sent.push({ method, url, status: response.status, setCookie: response.headers.get('set-cookie'), text })
  return response
}

type Plugin = Partial<BatchLinkPluginOptions<CallContext>>
const batching = (options: Plugin = {}) =>
  new BatchLinkPlugin<CallContext>({ groups: [{ condition: () => true, context: {} }], ...options })

const connect = (headers: Record<string, string> = {}, options: Plugin = {}) =>
  createClient(origin, { headers, fetch: record, plugins: [batching(options)] })

const signIn = async () => ({ cookie: await service.signIn(newEmail()) })
/** Waits for all calls. Returns the values, and the errors of the calls that failed. */
const settle = async (calls: Promise<unknown>[]) =>
  (await Promise.allSettled(calls)).map((each): unknown =>
    each.status === 'fulfilled' ? each.value : each.reason,
  )

describe.each(['streaming', 'buffered'] as const)('a batch in %s mode', (mode) => {
  test('is one request, and each call receives its own value or typed error', async () => {
    const client = connect(await signIn(), { mode })

    const answers = await settle([
      client.shelves.create({ name: 'First' }),
      client.loans.return({ id: 7 }),
      client.shelves.create({ name: '' }),
      client.visits.get(),
    ])

    expect(sent).toMatchObject([
      { method: 'POST', url: expect.stringMatching(/__batch__$/) as string, status: 207 },
    ])
    expect(answers).toMatchObject([
      { name: 'First' },
      { code: 'NOT_FOUND', status: 404, defined: true },
      { code: 'BAD_REQUEST', data: { issues: [{ path: 'name' }] } },
      { count: expect.any(Number) as number },
    ])
  })

  test('gives each call its own response headers', async () => {
    const client = connect(await signIn(), { mode })
    const replies = [new Map<string, string>(), new Map<string, string>(), new Map<string, string>()] as const

    await settle([
      client.shelves.create({ name: 'x' }, { context: { reply: replies[0] } }),
      client.visits.get(undefined, { context: { reply: replies[1] } }),
      client.shelves.list(undefined, {
        context: { headers: { authorization: 'Bearer x' }, reply: replies[2] },
      }),
    ])

    expect(replies[0].get('etag')).toBe('"1"')
    expect(replies[1].has('etag')).toBe(false)
    expect(replies[2].get('www-authenticate')).toContain('invalid_token')
  })

  test('gives no cookie to scripts', async () => {
    const client = connect(await signIn(), { mode })
    const { email } = await client.account.get()
    const reply = new Map<string, string>()
    sent.length = 0

    await settle([client.account.delete({ email }, { context: { reply } }), client.shelves.list()])

    expect(sent).toHaveLength(1)
    expect(await sent[0]?.text).not.toContain('session_token')
    expect([...reply.keys()]).not.toContain('set-cookie')
  })
})

describe('a batch', () => {
  test('deletes the cookie of a session that a call ends', async () => {
    const client = connect(await signIn(), { mode: 'buffered' })
    const { email } = await client.account.get()
    sent.length = 0

    await settle([client.account.delete({ email }), client.account.delete({ email })])

    expect(sent[0]?.setCookie).toMatch(/session_token=;.*Max-Age=0/i)
  })

  test('applies the headers of each call, in upper or lower case', async () => {
    const { cookie } = await signIn()
    const ada = connect({ cookie })
    const key = { 'Idempotency-Key': crypto.randomUUID() }
    const create = () => ada.shelves.create({ name: 'Once' }, { context: { headers: key } })

    const [first] = await settle([create(), ada.visits.get()])
    const [again] = await settle([create(), ada.visits.get()])

    expect(again).toEqual(first)
    expect((await ada.shelves.list()).shelves).toHaveLength(1)
  })

  test('authenticates each call with its own credentials', async () => {
    const [ada, bob] = [await signIn(), await signIn()]
    const client = connect()
    const emailOf = (headers: Record<string, string>) =>
      client.account.get(undefined, { context: { headers } })

    const answers = await settle([emailOf(ada), emailOf(bob), emailOf({})])

    expect(sent).toHaveLength(1)
    const single = createClient(origin, { headers: bob })
    expect(answers).toMatchObject([{}, await single.account.get(), { code: 'UNAUTHORIZED' }])
    expect(answers[0]).not.toEqual(answers[1])
  })

  test('counts each call against the rate limit', async () => {
    const client = connect({ 'x-forwarded-for': '198.51.100.1' })
    const reply = new Map<string, string>()
    const visit = () => client.visits.add(undefined, { context: { reply } })

    const answers = await settle([visit(), visit(), visit(), visit(), visit()])

    const refused = { code: 'TOO_MANY_REQUESTS', status: 429 }
    expect(sent).toHaveLength(1)
    expect(answers.filter((each) => each instanceof Error)).toMatchObject([refused, refused])
    expect(Number(reply.get('retry-after'))).toBeGreaterThan(0)
  })

  test('occupies a slot of admission control for each call', async () => {
    const client = connect(await signIn())
    await client.account.get()
    let running: Promise<unknown[]> | undefined
    const calls = Array.from({ length: 10 }, (_, index) => () => client.shelves.create({ name: `${index}` }))

    await withTableLocked(service.databaseUrl, 'shelves', async () => {
      running = settle(calls.map((call) => call()))
      await vi.waitFor(() => {
        expect(lines.join('')).toContain('"status":503')
      }, WAIT)
      await expect(createClient(origin).status.get()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    })
    const answers = await running

    expect(answers).toHaveLength(10)
    const refused = (answers ?? []).filter((each) => each instanceof Error)
    expect(refused).toHaveLength(4)
    expect(refused[0]).toMatchObject({ code: 'SERVICE_UNAVAILABLE', status: 503 })
    expect((await client.shelves.list()).shelves).toHaveLength(6)
    expect(await settle(calls.slice(0, 6).map((call) => call()))).not.toContainEqual(expect.any(Error))
  })

  test('has a log line and metrics for each call', async () => {
    const client = connect(await signIn())
    const { id } = await client.account.get()
    const figure = async (labels: string) => {
      const text = await (await fetch(`http://127.0.0.1:${METRICS_PORT}/metrics`)).text()
      return Number(
        text
          .split('\n')
          .find((line) => line.includes(labels))
          ?.split(' ')
          .at(-1) ?? 0,
      )
    }
    const [labels, batch] = [
      '{operation="loans.return",status="404"}',
      '{operation="__batch__",status="207"}',
    ]
    const before = [await figure(labels), await figure(batch)]
    lines.length = 0

    await settle([client.loans.return({ id: 7 }), client.visits.get()])

    await vi.waitFor(() => {
      expect(lines).toHaveLength(3)
    }, WAIT)
    const logged = lines.map((line) => JSON.parse(line) as { req: { id: string } })
    expect(logged).toContainEqual(
      expect.objectContaining({ operation: 'loans.return', person: id, res: { status: 404 } }),
    )
    expect(logged).toContainEqual(expect.objectContaining({ operation: 'visits.get', res: { status: 200 } }))
    expect(logged.at(-1)).toMatchObject({ operation: '__batch__', person: id, res: { status: 207 } })
    expect(new Set(logged.map(({ req }) => req.id)).size).toBe(1)
    expect([await figure(labels), await figure(batch)]).toEqual(before.map((count) => count + 1))
  })

  test('is refused above 10 calls, with the error for each call', async () => {
    const client = connect(await signIn(), { maxSize: 100 })

    const answers = await settle(Array.from({ length: 11 }, () => client.shelves.create({ name: 'x' })))

    expect(sent).toMatchObject([{ status: 413 }])
    for (const each of answers)
      expect(each).toMatchObject({ code: 'PAYLOAD_TOO_LARGE', message: 'A batch may have at most 10 calls' })
    expect((await client.shelves.list()).shelves).toHaveLength(0)
  })

  test.each([
    ['a foreign origin', { origin: 'https://evil.example' }, 'x', { code: 'FORBIDDEN', status: 403 }],
    ['a body above 1 MiB', {}, 'x'.repeat(1_100_000), { code: 'PAYLOAD_TOO_LARGE', status: 413 }],
    ['headers above 16 KiB', { 'x-large': 'x'.repeat(17_000) }, 'x', { status: 431 }],
  ])('is refused with %s, with the error for each call', async (_, headers, name, error) => {
    const client = connect({ ...(await signIn()), ...headers })

    const answers = await settle([client.shelves.create({ name }), client.shelves.list()])

    expect(answers).toMatchObject([error, error])
    expect(sent).toMatchObject([{ status: error.status }])
  })

  const itemOf = (path: string, rest: object = {}) => ({ url: origin + path, body: { json: {} }, ...rest })
  const deep = JSON.parse('['.repeat(63) + ']'.repeat(63)) as object
  test.each<[string, unknown]>([
    ['is empty', []],
    ['is not a list', { 0: itemOf('/rpc/status/get') }],
    ['has a call without an address', [{ body: {} }]],
    ['has a call with an invalid address', [itemOf('').url.slice(1)]],
    ['has a call by another method', [itemOf('/rpc/status/get', { method: 'GET' })]],
    ['has a call with invalid headers', [itemOf('/rpc/status/get', { headers: { cookie: 7 } })]],
    ['has a call with an invalid body', [itemOf('/rpc/status/get', { body: 'x' })]],
    ['has too many levels', [itemOf('/rpc/status/get', { body: { json: deep } })]],
  ])('is refused if the batch %s', async (_, items) => {
    const response = await send(items)

    expect(response.status).toBe(400)
    expect(await response.json()).toContainEqual({
      index: 9,
      headers: {},
      body: { json: expect.objectContaining({ code: 'BAD_REQUEST' }) as object },
    })
  })

  test.each<[string, object, object]>([
    ['to an unknown procedure', itemOf('/rpc/nope'), { code: 'NOT_FOUND' }],
    ['to REST', itemOf('/api/status'), { code: 'NOT_FOUND' }],
    ['to a batch', itemOf('/rpc/__batch__'), { code: 'NOT_FOUND' }],
    [
      'with the header of a batch',
      itemOf('/rpc/status/get', { headers: { 'X-ORPC-Batch': '1' } }),
      { code: 'BAD_REQUEST' },
    ],
    ['with a `meta`', itemOf('/rpc/books/get', { body: { json: {}, meta: [[1]] } }), { code: 'BAD_REQUEST' }],
    ['to an unreadable address', itemOf('/rpc/a%00'), { code: 'BAD_REQUEST' }],
  ])('refuses a call %s, and answers the other calls', async (_, item, error) => {
    const response = await send([itemOf('/rpc/status/get'), item], { 'x-orpc-batch': 'buffered' })

    const answers = (await response.json()) as { index: number; status: number; body: { json: object } }[]
    expect(answers.find(({ index }) => index === 0)).toMatchObject({ status: 200 })
    expect(answers.find(({ index }) => index === 1)?.body.json).toMatchObject(error)
  })

  const send = (items: unknown, headers: Record<string, string> = {}) =>
    fetch(`${origin}/rpc/__batch__`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-orpc-batch': 'streaming', ...headers },
      body: JSON.stringify(items),
    })
})

describe('a batch by GET', () => {
  const connectByGet = (plugins: NonNullable<ConstructorParameters<typeof RPCLink>[0]['plugins']>): Client =>
    createORPCClient(
      new RPCLink({ url: `${origin}/rpc`, method: 'GET', fetch: record, plugins: [...plugins] }),
    )

  test('answers the calls of procedures that change nothing', async () => {
    const client = connectByGet([batching()])

    const answers = await settle([client.visits.get(), client.status.get(), client.visits.add()])

    expect(sent).toMatchObject([{ method: 'GET', status: 207 }])
    expect(answers).toMatchObject([{}, {}, { code: 'METHOD_NOT_SUPPORTED', status: 405 }])
  })

  test('must not contain a call by POST', async () => {
    const { count } = await connect().visits.get()
    const items = [{ method: 'POST', url: `${origin}/rpc/visits/add`, body: { json: {} } }]

    const response = await fetch(
      `${origin}/rpc/__batch__?batch=${encodeURIComponent(JSON.stringify(items))}`,
      {
        headers: { 'x-orpc-batch': 'buffered' },
      },
    )

    expect(response.status).toBe(400)
    expect(await connect().visits.get()).toEqual({ count })
  })

  test('contains equal calls once if the client removes duplicates', async () => {
    const dedupe = new DedupeRequestsPlugin({ groups: [{ condition: () => true, context: {} }] })
    const client = connectByGet([dedupe, batching()])

    const answers = await Promise.all([client.visits.get(), client.visits.get(), client.status.get()])

    expect(answers[0]).toEqual(answers[1])
    expect(sent).toMatchObject([{ method: 'GET', status: 207 }])
    await vi.waitFor(() => {
      expect(lines).toHaveLength(3)
    }, WAIT)
  })
})
