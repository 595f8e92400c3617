import { once } from 'node:events'
import { request as sendRequest } from 'node:http'
import { endpoint } from 'tallystick'
import { describe, expect, test } from 'vitest'

import { rateLimit, startEndpoints } from '../fixtures/endpoints-app.ts'
import { createRawFetch, formType } from '../fixtures/http.ts'
import { exchange, HALF_CLOSE, type Step } from '../fixtures/raw-http.ts'

const PATIENCE = 20_000
const MIB = 2 ** 20
const shared = { method: 'POST', rateLimit } as const

const service = await startEndpoints({
  bytes: endpoint({ ...shared, path: '/hooks/bytes', body: 'bytes', maxBytes: 2 * MIB }, ({ body }) =>
    Response.json({ length: body.length, hex: body.subarray(0, 100).toString('hex') }),
  ),
  text: endpoint({ ...shared, path: '/hooks/text', body: 'text', types: ['text/*'] }, ({ body }) =>
    Response.json({ text: body }),
  ),
  form: endpoint(
    { ...shared, path: '/hooks/form', body: 'form', maxBytes: 4000 },
    async ({ body, request }) => Response.json({ fields: [...body], raw: await request.text() }),
  ),
  stream: endpoint(
    { ...shared, path: '/hooks/stream', body: 'stream', maxBytes: 8 * MIB },
    async ({ body }) => {
      let length = 0
      for await (const chunk of body) length += chunk.length
      return Response.json({ length })
    },
  ),
  unread: endpoint({ ...shared, path: '/hooks/unread', body: 'stream' }, () => new Response('Enough')),
  empty: endpoint({ ...shared, path: '/hooks/empty' }, ({ body }) => Response.json({ body: String(body) })),
  item: endpoint({ method: 'GET', path: '/hooks/items/{id}/{name}', rateLimit }, ({ params, request }) =>
    Response.json({ ...params, url: request.url, method: request.method }),
  ),
})
const { origin } = service
const port = Number(new URL(origin).port)
const send = createRawFetch(service)

async function post(path: string, headers: Record<string, string>, body?: string | Buffer) {
  const answer = await fetch(origin + path, { method: 'POST', headers, ...(body !== undefined && { body }) })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

/** Sends a request without waiting for earlier answers of the connection. */
const head = (path: string, ...lines: string[]) =>
  [`POST ${path} HTTP/1.1`, 'host: localhost', ...lines, '', ''].join('\r\n')

describe('a body', () => {
  test.each([
    ['JSON with a fraction', 'application/json', '{"amount":1.0}'],
    ['a list', 'application/json', '[{"event":"open"}]'],
    ['an event', 'application/cloudevents+json', '{"specversion":"1.0","id":"1"}'],
    ['bytes that are no text', 'application/octet-stream', Buffer.from([0, 255, 13, 10, 254])],
    ['JSON with a byte order mark', 'application/json', Buffer.from('\uFEFF{}')],
    [
      'several parts',
      'multipart/form-data; boundary=b',
      '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--b--',
    ],
    ['compressed bytes', 'application/json', Buffer.from('1f8b08', 'hex')],
  ])('arrives as it was sent: %s', async (title, type, sent) => {
    const coding: Record<string, string> = title.startsWith('compressed')
      ? { 'content-encoding': 'gzip' }
      : {}

    const { body } = await post('/hooks/bytes', { 'content-type': type, ...coding }, sent)

    expect(body.hex).toBe(Buffer.from(sent).toString('hex'))
  })

  test('can be a text, as notifications of queues are', async () => {
    const sent = '\uFEFF{\n  "Type" : "Notification"\n}'

    const { body } = await post('/hooks/text', { 'content-type': 'text/plain; charset=UTF-8' }, sent)

    expect(body).toEqual({ text: sent })
  })

  test('can be a form with repeated fields, and its text stays for a signature', async () => {
    const sent = 'From=%2B15550100&Body=one+two&MediaUrl=a&MediaUrl=b&empty='

    const { body } = await post('/hooks/form', formType, sent)

    expect(body).toEqual({
      fields: [
        ['From', '+15550100'],
        ['Body', 'one two'],
        ['MediaUrl', 'a'],
        ['MediaUrl', 'b'],
        ['empty', ''],
      ],
      raw: sent,
    })
  })

  test('is empty if the request has none', async () => {
    expect((await post('/hooks/bytes', {})).body).toMatchObject({ length: 0 })
    expect((await post('/hooks/stream', {})).body).toEqual({ length: 0 })
    expect((await post('/hooks/empty', {})).body).toEqual({ body: 'undefined' })
  })
})

describe.each(['bytes', 'stream'])('the size of a body of the kind %s', (kind) => {
  const path = `/hooks/${kind}`
  const limit = kind === 'bytes' ? 2 * MIB : 8 * MIB

  test.each(['content-length', 'chunked'])('can be the maximum, with %s', async (framing) => {
    const bytes = Buffer.alloc(limit)
    const sent = framing === 'chunked' ? new Blob([bytes]).stream() : bytes

    const answer = await fetch(origin + path, { method: 'POST', body: sent, duplex: 'half' })

    expect(await answer.json()).toMatchObject({ length: limit })
  })

  test.each(['content-length', 'chunked'])('is 413 above the maximum, with %s', async (framing) => {
    const bytes = Buffer.alloc(limit + 1)
    const sent = framing === 'chunked' ? new Blob([bytes]).stream() : bytes

    const answer = await fetch(origin + path, { method: 'POST', body: sent, duplex: 'half' })

    expect(await answer.json()).toMatchObject({
      status: 413,
      message: `A body may have at most ${limit} bytes`,
    })
  })

  test('is complete only with the last chunk', async () => {
    const steps: Step[] = [head(path, 'transfer-encoding: chunked'), '3\r\nabc\r\n', HALF_CLOSE]

    const { responses, closed } = await exchange(port, steps, { timeout: PATIENCE })

    expect(responses.filter(({ status }) => status === 200)).toEqual([])
    expect(closed).toBe(true)
  })
})

describe('a body that is refused', () => {
  test.each([
    ['of another type', '/hooks/text', { 'content-type': 'application/json' }, '{}', 415],
    ['without a type', '/hooks/text', {}, Buffer.from('a'), 415],
    ['in another charset', '/hooks/text', { 'content-type': 'text/plain; charset=latin1' }, 'a', 415],
    ['compressed', '/hooks/text', { 'content-type': 'text/plain', 'content-encoding': 'gzip' }, 'a', 415],
    ['that is no UTF-8', '/hooks/text', { 'content-type': 'text/plain' }, Buffer.from([0xc3]), 400],
    ['that is no form', '/hooks/form', { 'content-type': 'application/json' }, '{}', 415],
    ['with thousands of fields', '/hooks/form', formType, 'a&'.repeat(1500), 400],
    ['where none is declared', '/hooks/empty', { 'content-type': 'text/plain' }, 'a', 413],
  ])('is %s', async (_, path, headers, body, status) => {
    expect(await post(path, headers as Record<string, string>, body)).toMatchObject({
      status,
      body: { status, defined: false },
    })
  })

  test('is refused before 100 (Continue), and after it with the answer of the handler', async () => {
    const announce = async (path: string, length: number, type: string) => {
      const headers = { expect: '100-continue', 'content-length': length, 'content-type': type }
      const sent = sendRequest(origin + path, { method: 'POST', headers, agent: false })
      sent.on('continue', () => sent.end('x'.repeat(length)))
      sent.flushHeaders()
      const [response] = (await once(sent, 'response')) as [{ statusCode: number; destroy: () => void }]
      response.destroy()
      return { status: response.statusCode, isContinued: sent.writableEnded }
    }

    expect(await announce('/hooks/text', 5, 'text/plain')).toEqual({ status: 200, isContinued: true })
    expect(await announce('/hooks/stream', 5, 'text/plain')).toEqual({ status: 200, isContinued: true })
    expect(await announce('/hooks/text', 5, 'image/png')).toEqual({ status: 415, isContinued: false })
    expect(await announce('/hooks/bytes', 3 * MIB, 'image/png')).toEqual({ status: 413, isContinued: false })
    expect(await announce('/hooks/unread', 5, 'image/png')).toEqual({ status: 200, isContinued: false })
  })
})

describe('a connection', () => {
  const small = (path: string, type = 'text/plain') =>
    `${head(path, 'content-length: 1', `content-type: ${type}`)}a`

  test('answers pipelined requests in their order', async () => {
    const paths = ['/hooks/text', '/hooks/stream', '/hooks/bytes', '/hooks/text']

    const { responses, closed } = await exchange(port, [paths.map((path) => small(path)).join('')], {
      timeout: PATIENCE,
      responses: paths.length,
    })

    expect(responses.map(({ body }) => body)).toEqual([
      '{"text":"a"}',
      '{"length":1}',
      '{"length":1,"hex":"61"}',
      '{"text":"a"}',
    ])
    expect(closed).toBe(false)
  })

  test('stays open after a refusal, if the body was complete', async () => {
    const invalid = `${head('/hooks/text', 'content-length: 1', 'content-type: text/plain')}\xff`

    const { responses, closed } = await exchange(
      port,
      [Buffer.from(invalid + small('/hooks/text'), 'latin1')],
      {
        timeout: PATIENCE,
        responses: 2,
      },
    )

    expect(responses.map(({ status }) => status)).toEqual([400, 200])
    expect(closed).toBe(false)
  })

  test('stays open after an answer to a stream that was read', async () => {
    const steps = [small('/hooks/stream') + small('/hooks/stream')]

    const { responses, closed } = await exchange(port, steps, { timeout: PATIENCE, responses: 2 })

    expect(responses.map(({ body }) => body)).toEqual(['{"length":1}', '{"length":1}'])
    expect(closed).toBe(false)
  })

  test('closes after an answer to a stream that was not read', async () => {
    const steps = [`${head('/hooks/unread', 'content-length: 100000')}a`]

    const { responses, closed } = await exchange(port, steps, { timeout: PATIENCE })

    expect(responses).toMatchObject([{ status: 200, body: 'Enough' }])
    expect(responses[0]?.headers.get('connection')).toBe('close')
    expect(closed).toBe(true)
  })

  test.each([
    ['two lengths', 'content-length: 1\r\ncontent-length: 2'],
    ['a length and chunks', 'content-length: 1\r\ntransfer-encoding: chunked'],
    ['an unknown coding', 'transfer-encoding: xchunked'],
    ['a length that is no number', 'content-length: +1'],
  ])('is refused with %s', async (_, lines) => {
    const { responses, closed } = await exchange(port, [`${head('/hooks/bytes', lines)}a`], {
      timeout: PATIENCE,
    })

    expect(responses).toMatchObject([{ status: 400 }])
    expect(closed).toBe(true)
  })
})

describe('a path', () => {
  test('has parameters, which are decoded, and the URL has the query', async () => {
    const answer = await fetch(`${origin}/hooks/items/a%2Fb%20%C3%A4/x~y?z=1.0`)

    expect(await answer.json()).toEqual({
      id: 'a/b ä',
      name: 'x~y',
      url: `${service.services.settings.baseUrl}/hooks/items/a%2Fb%20%C3%A4/x~y?z=1.0`,
      method: 'GET',
    })
  })

  test('answers HEAD with the headers of GET', async () => {
    const { responses, rest } = await exchange(
      port,
      ['HEAD /hooks/items/1/2 HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n'],
      { timeout: PATIENCE, isHead: true },
    )

    expect(responses).toMatchObject([{ status: 200 }])
    expect(responses[0]?.headers.get('content-type')).toBe('application/json')
    expect(rest).toBe('')
  })

  test.each([
    ['/hooks/items/..%2F..%2Fsecret/a', 404],
    ['/hooks/items/%2e%2e/a', 404],
    ['/hooks/items/a/b/c', 404],
    ['/hooks/items/a', 404],
    ['/hooks//items/a/b', 404],
    ['/hooks/items/a/b/', 404],
    ['/hooks/items/%00/b', 400],
    ['/hooks/ITEMS/a/b', 404],
  ])('does not match %s', async (path, status) => {
    expect((await send('GET', path)).status).toBe(status)
  })

  test('answers another method with 405, and OPTIONS with the methods', async () => {
    const wrong = await fetch(`${origin}/hooks/items/1/2`, { method: 'POST', body: 'a' })
    const options = await fetch(`${origin}/hooks/text`, { method: 'OPTIONS' })

    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'POST, OPTIONS'])
  })

  test('ignores headers that name another method', async () => {
    const headers = { 'x-http-method-override': 'POST', 'x-method-override': 'POST' }

    expect((await send('GET', '/hooks/empty', headers)).status).toBe(405)
  })
})
